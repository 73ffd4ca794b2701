//go:build !cgo

// The same mark without cgo, where it has no effect.

package mbuf

// notInHeap has no effect without cgo; see notinheap_cgo.go.
type notInHeap = struct{}
