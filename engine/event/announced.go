// The number of announced changes, in memory of its own.

package event

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const announcedLen = 4096 // a page: nothing else shares its cache line

// newAnnounced maps a number outside the Go heap: package fast reads it in C.
func newAnnounced() *atomic.Uint64 {
	b, err := syscall.Mmap(-1, 0, announcedLen, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("event: no memory for %d bytes: %v", announcedLen, err)) // at start only
	}
	return (*atomic.Uint64)(unsafe.Pointer(&b[0])) // SAFETY: page aligned and large enough
}

func closeAnnounced(n *atomic.Uint64) {
	syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(n)), announcedLen)) // SAFETY: newAnnounced mapped as much
}
