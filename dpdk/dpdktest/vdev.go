// Devargs of virtual devices for tests: net_null, net_pcap, net_ring.

package dpdktest

import "fmt"

// Null is a port that makes packets of size bytes from nothing, and frees what
// it transmits.
func Null(n, size int) string { return fmt.Sprintf("net_null%d,size=%d", n, size) }

// Sink is a port that receives nothing, and frees what it transmits.
func Sink(n int) string { return fmt.Sprintf("net_null%d,no-rx=1", n) }

// Pcap is a port that receives the packets of one capture and transmits into
// another. File names must not contain commas.
func Pcap(n int, rx, tx string) string {
	return fmt.Sprintf("net_pcap%d,rx_pcap=%s,tx_pcap=%s", n, rx, tx)
}

// PcapRx is a port that receives the packets of a capture once, and frees what
// it transmits.
func PcapRx(n int, rx string) string { return fmt.Sprintf("net_pcap%d,rx_pcap=%s", n, rx) }

// PcapLoop is a port that receives the packets of a capture over and over, and
// frees what it transmits. The capture is copied into mbufs of the port's pool
// when it starts.
func PcapLoop(n int, rx string) string {
	return fmt.Sprintf("net_pcap%d,rx_pcap=%s,infinite_rx=1", n, rx)
}

// Ring is a port that receives what it transmits, in order.
func Ring(n int) string { return fmt.Sprintf("net_ring%d", n) }
