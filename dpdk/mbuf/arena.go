// Arena: a pool of mbufs without DPDK, for tests and plan.

package mbuf

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"
)

// Arena is a pool of mbufs without DPDK: for tests, and for running the engine
// where there is no DPDK. Its methods may be called from any goroutine.
type Arena struct {
	mem  []byte
	mu   sync.Mutex
	free []*Mbuf
	n    int
}

// NewArena makes n mbufs with buffers of dataRoom bytes, headroom included, off
// the Go heap.
func NewArena(n, dataRoom int) (*Arena, error) {
	if n <= 0 || dataRoom <= 0 || dataRoom > 65535 {
		return nil, fmt.Errorf("mbuf: an arena of %d mbufs of %d bytes: use at least one, of 1 to 65535 bytes", n, dataRoom)
	}
	head := int(unsafe.Sizeof(Mbuf{}))
	stride := (head + dataRoom + 63) &^ 63
	mem, err := mapMemory(n * stride)
	if err != nil {
		return nil, fmt.Errorf("mbuf: arena of %d bytes: %w", n*stride, err)
	}
	a := &Arena{mem: mem, n: n, free: make([]*Mbuf, 0, n)}
	for i := n - 1; i >= 0; i-- {
		// SAFETY: each mbuf and its buffer have stride bytes of mem to themselves.
		m := (*Mbuf)(unsafe.Pointer(&mem[i*stride]))
		m.bufAddr = unsafe.Pointer(&mem[i*stride+head])
		m.bufLen = uint16(dataRoom)
		a.free = append(a.free, m)
	}
	return a, nil
}

// arenaHeadroom is RTE_PKTMBUF_HEADROOM of DPDK's default build.
const arenaHeadroom = 128

// AllocBulk fills v[:n] with empty mbufs or, returning false, leaves v alone.
func (a *Arena) AllocBulk(v *Vec, n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.free) < n {
		return false
	}
	for i := range n {
		m := a.free[len(a.free)-1]
		a.free = a.free[:len(a.free)-1]
		m.Reset(min(arenaHeadroom, int(m.bufLen)))
		m.refcnt = 1
		v[i] = m
	}
	return true
}

// FreeBulk takes v[:n] back, whole chains.
func (a *Arena) FreeBulk(v *Vec, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range v[:n] {
		for m != nil {
			next := m.next
			if m.refcnt != 1 {
				panic("mbuf: freed twice") // a bug of the caller; arenas serve tests
			}
			m.refcnt = 0
			a.free = append(a.free, m)
			m = next
		}
	}
}

// InUse is the number of mbufs that are allocated.
func (a *Arena) InUse() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n - len(a.free)
}

// Close gives the memory back; no mbuf of the arena may be touched after it.
func (a *Arena) Close() { syscall.Munmap(a.mem) }
