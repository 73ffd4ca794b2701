// Small: a generic table of fixed memory for queues, interfaces, links and paths, with
// eviction.

package flows

import (
	"math"
	"math/bits"
	"syscall"
	"unsafe"
)

// Small is a table of queues, links, interfaces or paths. Its memory is fixed: in a full
// bucket the entry that was not seen for longest is evicted, entries that holds reports last.
// It belongs to one goroutine.
type Small[V any] struct {
	key       uint64
	mask      uint64
	entries   []smallEntry[V]
	memory    []byte
	hand      int // whose turn Saturate is
	n         int
	evictions uint64
	holds     func(v *V, now int64) bool
}

type smallEntry[V any] struct {
	used  bool
	tick  uint32
	key   [2]uint64
	value V
}

const smallSlots = 4 // entries of one bucket

// NewSmall makes a table of at least capacity entries. V must not hold pointers. seed keys the
// hash. holds, unless nil, reports whether an entry keeps something that would be lost if it
// were evicted, such as an episode.
func NewSmall[V any](capacity int, seed uint64, holds func(v *V, now int64) bool) *Small[V] {
	n := smallSlots
	for n < capacity {
		n <<= 1
	}
	t := &Small[V]{holds: holds, key: seed*prime1 | 1, mask: uint64(n-1) &^ (smallSlots - 1)}
	b := mapMemory((n + 1) * int(unsafe.Sizeof(smallEntry[V]{})))
	// SAFETY: the mapping is page aligned, zero, exactly as long as the slice, and
	// lives until Close.
	t.memory = b
	t.entries = unsafe.Slice((*smallEntry[V])(unsafe.Pointer(&b[0])), n+1)
	t.entries[n].key = [2]uint64{math.MaxUint64, math.MaxUint64} // Index.None
	t.entries = t.entries[:n]
	return t
}

// Close gives the memory back. No entry may be touched after it.
func (t *Small[V]) Close() {
	syscall.Munmap(t.memory)
	t.memory, t.entries = nil, nil
}

// Get finds or makes the entry of key. fresh: it was made now and is zero. It stays
// valid until the next call.
func (t *Small[V]) Get(now int64, key [2]uint64) (v *V, fresh bool) {
	bucket := t.bucket(key)
	tick := Tick(now)
	for i := range bucket {
		if e := &bucket[i]; e.used && e.key == key {
			e.tick = tick
			return &e.value, false
		}
	}
	e := t.victim(now, bucket)
	if e.used {
		t.evictions++
	} else {
		t.n++
	}
	*e = smallEntry[V]{used: true, tick: tick, key: key}
	return &e.value, true
}

// Find returns the entry of key, or nil. It is no sign of life: the entry's age stays.
func (t *Small[V]) Find(key [2]uint64) *V {
	bucket := t.bucket(key)
	for i := range bucket {
		if e := &bucket[i]; e.used && e.key == key {
			return &e.value
		}
	}
	return nil
}

// Touch does as Find, and takes up that the entry was seen at a tick.
func (t *Small[V]) Touch(key [2]uint64, tick uint32) *V {
	bucket := t.bucket(key)
	for i := range bucket {
		if e := &bucket[i]; e.used && e.key == key {
			if int32(tick-e.tick) > 0 {
				e.tick = tick
			}
			return &e.value
		}
	}
	return nil
}

// bucket returns the entries that key may stand in.
func (t *Small[V]) bucket(key [2]uint64) []smallEntry[V] {
	hi, lo := bits.Mul64(key[0]^t.key, prime2^t.key)
	h := hi ^ lo ^ bits.RotateLeft64(key[1]*t.key, 32)
	h = (h ^ h>>29) * prime3
	at := h >> 20 & t.mask
	return t.entries[at : at+smallSlots]
}

// victim returns a free entry, or the one that makes room.
func (t *Small[V]) victim(now int64, bucket []smallEntry[V]) *smallEntry[V] {
	const held = 1 << 32
	worst, rank := 0, uint64(held<<1)
	for i := range bucket {
		e := &bucket[i]
		if !e.used {
			return e
		}
		r := uint64(^(Tick(now) - e.tick)) // the idler, the lower
		if t.holds != nil && t.holds(&e.value, now) {
			r |= held
		}
		if r < rank {
			worst, rank = i, r
		}
	}
	return &bucket[worst]
}

// Len returns the number of entries.
func (t *Small[V]) Len() int { return t.n }

// Capacity returns how many entries there is room for.
func (t *Small[V]) Capacity() int { return len(t.entries) }

// Evictions returns how many entries made room for others.
func (t *Small[V]) Evictions() uint64 { return t.evictions }

// SmallIndex finds entries of a Small, as Get does, without making one. Package
// engine/fast has the same in C.
type SmallIndex struct {
	Entries        uintptr
	Mask, Key      uint64
	Prime2, Prime3 uint64 // of the hash
	None           uint32 // offset of an entry that has no key
}

// Index returns the Index of t.
func (t *Small[V]) Index() SmallIndex {
	// SAFETY: the address is of memory outside the Go heap, which is never given back.
	return SmallIndex{Entries: uintptr(unsafe.Pointer(&t.entries[0])), Mask: t.mask, Key: t.key, Prime2: prime2, Prime3: prime3,
		None: uint32(len(t.entries)) * uint32(unsafe.Sizeof(smallEntry[V]{}))}
}

// Walk calls f for the entries from slot at on, at most n slots, and returns the
// slot to go on from; 0 when all were seen.
func (t *Small[V]) Walk(at, n int, f func(key [2]uint64, seen uint32, v *V)) int {
	for ; n > 0 && at < len(t.entries); n-- {
		if e := &t.entries[at]; e.used {
			f(e.key, e.tick, &e.value)
		}
		at++
	}
	if at == len(t.entries) {
		return 0
	}
	return at
}
