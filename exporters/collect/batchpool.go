// The pools that batches come from, by their room, and what a batch counts for.

package collect

import (
	"sync"
	"unsafe"
)

// A batch keeps its room when it is given back, and queues hold batches: one that had once
// grown for a burst would take as much memory for a single report packet. So batches are
// pooled by their room, and count in queues for their room.
const (
	smallestClass = 4 << 10 // bytes of the batches in the first pool, at most
	classes       = 11      // each has batches of up to twice as many bytes, up to 4 MiB
	overhead      = 1 << 10 // what a batch takes besides its slices
)

var pools [classes]sync.Pool

// class is the pool of batches with so many bytes of room; classes where there is none.
func class(bytes int) int {
	c := 0
	for limit := smallestClass; c < classes && bytes > limit; limit *= 2 {
		c++
	}
	return c
}

// newBatch returns an empty batch that the caller holds, for about so many bytes.
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

// release gives a batch back when nobody holds it any more. The largest are left to the
// garbage collector.
func (b *Batch) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	if c := class(b.room()); c < classes {
		pools[c].Put(b)
	}
}

// room is how many bytes a batch takes, whatever is in it.
func (b *Batch) room() int {
	n := overhead + cap(b.raw) + cap(b.entries)*int(unsafe.Sizeof(b.entries[0])) + cap(b.items)*int(unsafe.Sizeof(b.items[0]))
	for f := range b.encoded {
		n += cap(b.encoded[f])
	}
	return n
}

// seal counts what the batch takes; nothing is added any more.
func (b *Batch) seal() { b.bytes = b.room() }
