//go:build cgo

package mbuf

import "runtime/cgo"

// notInHeap makes *Mbuf a pointer that the garbage collector and the cgo
// pointer checks ignore, which is what memory of DPDK is.
type notInHeap = cgo.Incomplete
