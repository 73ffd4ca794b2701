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
	if t.sparse = t.n <= len(t.flows)/sparseShare; t.sparse {
		firsts(t, hashes, out)
	} else {
		candidates(t, Tick(now), hashes, out)
	}
	for j := 0; ; j++ {
		if j = confirm(now, keys, out, j); j >= len(keys) {
			return fresh
		}
		if !t.sparse {
			t.unsee(hashes[j], out[j])
		}
		out[j], fresh = t.findOrInsert(now, hashes[j], &keys[j], out[:j], fresh)
	}
}

// sparseShare: in a table with at most one flow for so many places, a flow is most likely
// in the first place of its bucket, which is looked at before the bucket is. So most
// packets read two lines instead of three, which lie far apart from those of others.
//
// When a flow was last seen stands in the bucket later, then: Age sees to it.
const sparseShare = 64

// Touch loads what LookupBurst will ask for first of a hash.
func (t *Table) Touch(h uint64) {
	if t.sparse {
		t.touched += t.flows[h&t.mask*slots].Key.rest
	} else {
		t.touched += t.buckets[h&t.mask].tags[0]
	}
}

// Index is what hashes a key of IPv4, as Hash does with these Keys, and finds what
// LookupBurst will ask for first: Stride * (hash & Mask) behind Base.
type Index struct {
	Keys         [3]uint64
	Mask, Stride uint64
	Base         uintptr
}

// Index is that of t until the next LookupBurst, and none the worse for it later, until
// t is closed.
func (t *Table) Index() Index {
	// SAFETY: the address is only prefetched, and what it points to does not move.
	i := Index{Keys: t.hasher.keys, Mask: t.mask, Stride: 1 << bucketShift, Base: uintptr(unsafe.Pointer(&t.buckets[0]))}
	if t.sparse {
		i.Stride, i.Base = slots<<flowShift, uintptr(unsafe.Pointer(&t.flows[0]))
	}
	return i
}

// Sparse tells whether Index is of a table with few flows.
func (t *Table) Sparse() bool { return t.sparse }

// unsee takes back that f, a candidate for hash h, was marked as seen: it is another
// flow.
//
//go:noinline
func (t *Table) unsee(h uint64, f *Flow) {
	if f == nil {
		return
	}
	b := h & t.mask
	for s := range uint64(slots) {
		if &t.flows[b*slots+s] == f {
			t.buckets[b].seen[s] = Tick(f.seen)
		}
	}
}

// findOrInsert looks at every place where the flow may be.
//
//go:noinline
func (t *Table) findOrInsert(now int64, h uint64, k *Key, held []*Flow, fresh uint64) (*Flow, uint64) {
	if f := t.findIn(now, h&t.mask, tagOf(h), k); f != nil {
		return f, fresh
	}
	if f := t.findIn(now, t.second(h), tagOf(h), k); f != nil {
		return f, fresh
	}
	f := t.insert(now, h, k, held)
	if f != nil {
		fresh |= 1 << len(held)
	}
	return f, fresh
}

// second is the other bucket of a hash.
func (t *Table) second(h uint64) uint64 { return t.other(h&t.mask, tagOf(h)) }

func (t *Table) findIn(now int64, b uint64, tag uint16, k *Key) *Flow {
	bk := &t.buckets[b]
	for w := range uint64(len(bk.tags)) {
		for m := matches(bk.tags[w], tag); m != 0; m &= m - 1 {
			s := w*4 + slot(m)
			if f := &t.flows[b*slots+s]; bk.tag(s) == tag && f.Key.equal(k) {
				bk.seen[s] = Tick(now)
				f.seen = now
				return f
			}
		}
	}
	return nil
}
