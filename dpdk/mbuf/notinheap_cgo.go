//go:build cgo

// Marks *Mbuf as a pointer outside the Go heap, with cgo.

package mbuf

import "runtime/cgo"

// notInHeap makes *Mbuf a pointer that the garbage collector and the cgo
// pointer checks ignore, which is what memory of DPDK is.
type notInHeap = cgo.Incomplete
