// Package engine is the datapath: one Worker per lcore takes bursts of packets
// from its queues through the stages parse, look up, detect, report, strip and
// transmit, each a file of its own (stage_*.go).
//
// A worker belongs to the goroutine that calls Run, or Poll and Tick. It owns its
// flow table, its detector and its open report packets; nothing is shared or
// locked on the way of a packet. The control plane talks to it through Reload,
// Stop and Snapshot (control.go).
//
// Packets are mbufs that the worker owns from the time a queue receives them until it
// transmits them, or FreeBulk frees them; between two polls it holds none. Sealed
// report packets are mbufs too; they go to an exporter, which frees them, through a
// ring.
package engine
