// Vec: a burst of mbuf pointers in memory outside the Go heap.

package mbuf

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Vec is a burst of packets. How many of its packets are valid is kept beside it.
type Vec [MaxBurst]*Mbuf

// NewVec returns a vector outside the Go heap, so that its address can cross
// into C as a number: the garbage collector neither moves nor checks it. It is
// never given back; a process makes a few of them at start, and two for each collector that
// a reload adds.
func NewVec() *Vec {
	b, err := mapMemory(int(unsafe.Sizeof(Vec{})))
	if err != nil {
		panic(fmt.Sprintf("mbuf: no memory for a burst vector: %v", err)) // at start only
	}
	return (*Vec)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
}

// Addr is the vector's address for a C call.
func (v *Vec) Addr() uintptr { return uintptr(unsafe.Pointer(v)) }

func mapMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}
