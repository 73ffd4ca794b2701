package flows

import (
	"math/bits"
	"unsafe"
)

// Small is a table of what packets speak of beside flows: queues, links,
// interfaces. Its memory is fixed; where a bucket is full, the entry that was
// longest not seen makes room. It belongs to one goroutine.
type Small[V any] struct {
	key       uint64
	mask      uint64
	entries   []smallEntry[V]
	n         int
	evictions uint64
}

type smallEntry[V any] struct {
	used  bool
	tick  uint32
	key   [2]uint64
	value V
}

const smallSlots = 4 // entries of one bucket

// NewSmall makes a table of at least capacity entries. V must not hold pointers.
// seed keys the hash.
func NewSmall[V any](capacity int, seed uint64) *Small[V] {
	n := smallSlots
	for n < capacity {
		n <<= 1
	}
	t := &Small[V]{key: seed*prime1 | 1, mask: uint64(n-1) &^ (smallSlots - 1)}
	b := mapMemory(n*int(unsafe.Sizeof(smallEntry[V]{})), false)
	// SAFETY: the mapping is page aligned, zero, exactly as long as the slice, and
	// lives as long as the process: tables are made at start only.
	t.entries = unsafe.Slice((*smallEntry[V])(unsafe.Pointer(&b[0])), n)
	return t
}

// Get finds or makes the entry of key. fresh: it was made now and is zero. It stays
// valid until the next call.
func (t *Small[V]) Get(now int64, key [2]uint64) (v *V, fresh bool) {
	hi, lo := bits.Mul64(key[0]^t.key, prime2^t.key)
	h := hi ^ lo ^ bits.RotateLeft64(key[1]*t.key, 32)
	h = (h ^ h>>29) * prime3
	at := h >> 20 & t.mask
	bucket := t.entries[at : at+smallSlots]
	tick := Tick(now)
	victim, oldest := 0, uint32(0)
	for i := range bucket {
		e := &bucket[i]
		if e.used && e.key == key {
			e.tick = tick
			return &e.value, false
		}
		age := tick - e.tick
		if !e.used {
			age = 1<<32 - 1
		}
		if age >= oldest {
			victim, oldest = i, age
		}
	}
	e := &bucket[victim]
	if e.used {
		t.evictions++
	} else {
		t.n++
	}
	*e = smallEntry[V]{used: true, tick: tick, key: key}
	return &e.value, true
}

// Len is the number of entries.
func (t *Small[V]) Len() int { return t.n }

// Capacity is how many entries there is room for.
func (t *Small[V]) Capacity() int { return len(t.entries) }

// Evictions is how many entries made room for others.
func (t *Small[V]) Evictions() uint64 { return t.evictions }

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
