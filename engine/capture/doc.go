// Package capture takes copies of packets out of a worker, for one reader of any other
// goroutine. The worker copies a packet into a ring of fixed size, or counts it as dropped:
// it never waits for the reader, allocates nothing, and copies at most so many a second.
//
//	capture.go  one worker's part in a capture: its rate, its end, what it counts
//	filter.go   which packets are wanted
//	record.go   a packet in the ring, and what is said of it
//	ring.go     the ring: bytes between one producer and one consumer
package capture
