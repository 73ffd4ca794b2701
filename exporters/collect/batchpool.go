// Pools of batches by the memory that they have, and the size by which a batch counts in queues.

package collect

import (
	"sync"
	"unsafe"
)

// A batch keeps its memory when it is released, and queues hold batches: one that had grown for
// a burst would take as much memory for a single report packet. So there is a pool for each
// class of size, and a batch counts in queues with the memory that it has.
const (
	smallestClass = 4 << 10 // most bytes of a batch in the first pool
	classes       = 11      // number of pools, each for up to twice the bytes of the one before: 4 MiB
	overhead      = 1 << 10 // bytes that a batch takes besides its slices
)

var pools [classes]sync.Pool

// class returns the pool for batches of so many bytes, or classes if they are too large for any.
func class(bytes int) int {
	c := 0
	for limit := smallestClass; c < classes && bytes > limit; limit *= 2 {
		c++
	}
	return c
}

// newBatch returns an empty batch from the pool for so many bytes. The caller holds it.
func newBatch(bytes int) *Batch {
	b, _ := pools[min(class(bytes), classes-1)].Get().(*Batch)
	if b == nil {
		b = new(Batch)
	}
	b.raw, b.entries, b.items, b.bytes = b.raw[:0], b.entries[:0], b.items[:0], 0
	for f := range b.encoded {
		b.encoded[f] = b.encoded[f][:0]
	}
	b.refs.Store(1)
	return b
}

// release returns a batch to its pool when nobody holds it any more. Batches too large for any
// pool are left to the garbage collector.
func (b *Batch) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	if c := class(b.room()); c < classes {
		pools[c].Put(b)
	}
}

// room returns how many bytes of memory a batch has, used or not.
func (b *Batch) room() int {
	n := overhead + cap(b.raw) + cap(b.entries)*int(unsafe.Sizeof(b.entries[0])) + cap(b.items)*int(unsafe.Sizeof(b.items[0]))
	for f := range b.encoded {
		n += cap(b.encoded[f])
	}
	return n
}

// seal sets the size by which the batch counts in queues. Nothing is added afterwards.
func (b *Batch) seal() { b.bytes = b.room() }
