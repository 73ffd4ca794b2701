// Package capture hands copies of packets from a worker to one reader in another goroutine. The
// worker copies a packet into a ring of fixed size, or counts it as dropped: it never waits for
// the reader, allocates nothing, and copies at most a given number of packets a second.
//
//	capture.go     one worker's part in a capture: its rate, its end, what it counts
//	aside.go       a capture in a worker: when it runs, which bursts it looks at
//	pick.go        which packets of a burst it takes
//	filter.go      which packets are wanted
//	record.go      a packet in the ring, with its link, verdict, events and watch
//	recordring.go  the ring: bytes between one producer and one consumer
package capture
