// Package engine is the datapath: one Worker per lcore takes bursts of packets
// from its queues through the stages receive, match (or parse), look up, pass, detect,
// report, strip and transmit. "The life of a packet" in ARCHITECTURE.md follows a packet
// through them, call by call.
//
//	worker.go     the worker; Poll, toHost and watch call the stages in their order; Tick
//	pollinc.go    polls in C, which comes back to Go with the bursts that it has something to do with
//	burst.go      a burst, and in which stage each of its fields is valid
//	io.go         what a worker is connected to: queues, pools, links
//	package fast  match, look up and pass, for headers that are known and packets that give no event: most of them
//	parse.go      parse: headers and INT of the others; flowkey.go: the key of their flows
//	lookup.go     look up: makes flows that are missing
//	detect.go     detect: which packets are reported; age.go ends flows
//	report.go     report: what a report is about; gather.go: packets that are reported alike;
//	              fragment.go: which of their bytes it shows; package reporting builds and sends it
//	strip.go      strip: removes INT that was kept for detect and report
//	transmit.go   transmit: before and after the call that sends; drops.go reports packets that cannot leave
//	longway.go    bursts with packets that are captured, verified or dropped by a rule; those that pass as they came
//	checksumsample.go, verify.go  their checksums
//	capturing.go, capturequeue.go  copies of packets, while a capture runs
//	mitigation.go rules that drop packets, while there are any
//	tonetwork.go  the other direction
//	watches.go    which watch a flow belongs to; packets that have no flow
//	shared.go     what all workers hold together: limits per port
//	control.go    what other goroutines may call: Run, which polls and calls Tick; query.go
//	pace.go       gaps between polls, busy time, sizes of bursts
//	rules.go      what a worker is configured with, and a reload of it; counters.go: what it counts
//
// A worker belongs to the goroutine that calls Run, or Poll and Tick. It owns its
// flow table, its detector and its open report packets; nothing is shared or
// locked while a packet passes. The control plane talks to it through Reload,
// Stop and Snapshot (control.go).
//
// Packets are mbufs that the worker owns from the time a queue receives them until it
// transmits them, or FreeBulk frees them; between two polls it holds none. Sealed
// report packets are mbufs too; they go to an exporter, which frees them, through a
// ring.
package engine
