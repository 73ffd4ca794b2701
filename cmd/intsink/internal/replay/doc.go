// Package replay is the command replay: a capture through the engine, by way of DPDK's
// pcap driver (pcapport.go), the forwarded frames and the reports into captures.
package replay
