//go:build !cgo

package mbuf

// notInHeap has no effect without cgo; see notinheap_cgo.go.
type notInHeap = struct{}
