// Package engine is the datapath: one Worker per lcore takes bursts of packets
// from its queues through the stages parse, look up, detect, report, strip and
// transmit.
//
//	worker.go     the worker, a poll, what happens to a burst, a tick
//	burst.go      a burst, and in which stage each of its fields is valid
//	io.go         what a worker is connected to: queues, pools, links
//	package fast  headers that are known, their flows, packets that give no event: most of them
//	parse.go      finds headers and INT in the others
//	lookup.go     finds or makes their flows
//	detect.go     decides which packets are reported; ends flows
//	report.go     what a report is about; gather.go: packets that are reported alike;
//	              fragment.go: which of their bytes it shows; package reporting builds and sends it
//	strip.go      removes INT
//	transmit.go   packets leave; drops.go reports those that cannot
//	dealing.go    which worker a packet belongs to, where workers share a port (package distribute)
//	longway.go    bursts with packets that are captured, verified or dropped by a rule; those that pass as they came
//	checksumsample.go, verify.go  their checksums
//	capturing.go, capturequeue.go  copies of packets, while a capture runs
//	mitigation.go rules that drop packets, while there are any
//	tonetwork.go  the other direction
//	watches.go    which watch a flow belongs to; packets that have no flow
//	shared.go     what all workers hold together: limits per port
//	control.go    what other goroutines may call: Run, which calls Poll and Tick; query.go
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
