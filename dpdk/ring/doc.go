// Package ring is a bounded lock-free queue of mbufs between one goroutine that
// pushes and one that pops.
//
//	r := ring.New(1024)
//	if !r.Push(m) { ... } // full: m is still the producer's
//	n := r.Pop(v, 64)     // v[:n] are the consumer's
//
// It is written in Go, not a binding of rte_ring: both ends are goroutines, and a
// call into C takes ten times as long as the operation.
package ring
