// Ring: Push and Pop between one producer and one consumer, without locks.

package ring

import (
	"sync/atomic"

	"intsink/dpdk/mbuf"
)

// Ring holds up to its size of mbufs. One goroutine may call Push, and one other Pop; no
// lock is taken and nobody waits. What is written before a Push is seen after the Pop that
// returns the mbuf.
//
// Each end has a cache line of its own, and looks at the other's only when its
// copy does not suffice.
type Ring struct {
	_     [64]byte
	head  atomic.Uint64 // next slot to pop; written by the consumer
	tailC uint64        // the consumer's copy of tail
	_     [48]byte
	tail  atomic.Uint64 // next slot to push; written by the producer
	headP uint64        // the producer's copy of head
	_     [48]byte
	mask  uint64
	slots []*mbuf.Mbuf
}

// New makes a ring for size mbufs, rounded up to a power of two.
func New(size int) *Ring {
	n := 1
	for n < size {
		n <<= 1
	}
	return &Ring{mask: uint64(n - 1), slots: make([]*mbuf.Mbuf, n)}
}

// Push hands m over; false where the ring is full, and m stays the caller's.
func (r *Ring) Push(m *mbuf.Mbuf) bool {
	tail := r.tail.Load()
	if tail-r.headP > r.mask {
		if r.headP = r.head.Load(); tail-r.headP > r.mask {
			return false
		}
	}
	r.slots[tail&r.mask] = m
	r.tail.Store(tail + 1)
	return true
}

// Pop takes up to limit mbufs, at most a vector full, into v and returns how
// many, in the order in which they were pushed.
func (r *Ring) Pop(v *mbuf.Vec, limit int) int {
	head := r.head.Load()
	limit = max(0, min(limit, len(v)))
	if r.tailC-head < uint64(limit) {
		r.tailC = r.tail.Load()
	}
	n := int(min(r.tailC-head, uint64(limit)))
	for i := range n {
		v[i] = r.slots[(head+uint64(i))&r.mask]
	}
	if n > 0 {
		r.head.Store(head + uint64(n))
	}
	return n
}

// Size is how many mbufs the ring has room for.
func (r *Ring) Size() int { return len(r.slots) }

// Len is how many mbufs are in the ring: exact for neither end while the other
// is at work.
func (r *Ring) Len() int { return int(r.tail.Load() - r.head.Load()) }
