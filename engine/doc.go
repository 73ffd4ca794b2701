// Package engine is the datapath: one Worker per lcore takes bursts of packets
// from its queues through the stages receive, match (or parse), look up, pass, detect,
// report, strip and transmit. "The life of a packet" in ARCHITECTURE.md follows a packet
// through them, call by call.
//
//	worker.go      the worker; the order in which its stages take a burst
//	poll.go        polls in Go; pollinc.go: in C, which comes back to Go with the bursts that it has something to do with
//	tick.go        what is due between bursts
//	control.go     what other goroutines may call: Run, which polls and calls Tick
//	rules.go       what a worker is configured with, and each stage's part of it; newworker.go
//	counters.go    what a worker counts; pace.go: gaps between polls, busy time, sizes of bursts
//	shared.go      what all workers hold together
//
//	package burst  what passes from stage to stage
//	stage/...      a package each: one type Stage, with what it alone owns, one method that takes a burst. It calls no other
//	aside/...      what is done with some bursts now and then, by the interface aside.Aside
//	fast, event, watch, reporting  what stages decide with
//	wire/...       formats
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
