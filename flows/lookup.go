package flows

import "unsafe"

// LookupBurst finds or makes the flow of every key: out[j] for keys[j], whose
// Hash is hashes[j]. Bit j of fresh tells that out[j] was made now. All flows
// stay valid until the next call; none is evicted by a later key of the same
// call. out[j] is nil where that would be needed. At most 64 keys.
func (t *Table) LookupBurst(now int64, keys []Key, hashes []uint64, out []*Flow) (fresh uint64) {
	hashes, out = hashes[:len(keys)], out[:len(keys)]
	// Each pass only asks for what the next one needs, for all keys: the cache
	// misses of a pass overlap, where one key after the other would wait for each.
	findByTag(t, hashes, out)
	for j := 0; ; j++ {
		if j = confirm(now, keys, out, j); j >= len(keys) {
			return fresh
		}
		out[j], fresh = t.findOrInsert(now, hashes[j], &keys[j], out[:j], fresh)
	}
}

// findOrInsert looks at every place where the flow may be.
//
//go:noinline
func (t *Table) findOrInsert(now int64, h uint64, k *Key, held []*Flow, fresh uint64) (*Flow, uint64) {
	for _, b := range t.candidates(h) {
		if f := t.findIn(b, tagOf(h), k); f != nil {
			f.seen = now
			return f, fresh
		}
	}
	f := t.insert(now, h, k, held)
	if f != nil {
		fresh |= 1 << len(held)
	}
	return f, fresh
}

// Touch loads the bucket that LookupBurst will ask for first of a hash.
func (t *Table) Touch(h uint64) { t.touched += t.buckets[t.primary(h)].tags[0] }

// Prefetch asks for the bucket of each hash, as Touch does, and waits for none where the
// machine can do without.
func (t *Table) Prefetch(hashes []uint64) { prefetch(t, hashes) }

// Index is what hashes a key of IPv4, as Hash does with these Keys, and finds what
// LookupBurst will ask for first: hash & Mask bytes behind Base.
type Index struct {
	Keys [3]uint64
	Mask uint64
	Base uintptr
}

// Index is that of t, until it is closed.
func (t *Table) Index() Index {
	// SAFETY: the address is only prefetched, and what it points to does not move.
	return Index{Keys: t.hasher.keys, Mask: t.mask << bucketShift, Base: uintptr(unsafe.Pointer(&t.buckets[0]))}
}
