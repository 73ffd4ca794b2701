// LookupBurst, Resolve and Index.Find: the search for the flows of a burst, in passes whose
// cache misses overlap; Walk visits all flows slice by slice, Find one by its key, for the
// API.

package flows

import (
	"math/bits"
	"unsafe"
)

// LookupBurst finds or makes the flow of every key: out[j] for keys[j], whose
// Hash is hashes[j]. Bit j of fresh tells that out[j] was made now. All flows
// stay valid until the next call; none is evicted by a later key of the same
// call. out[j] is nil where that would be needed. At most 64 keys.
func (t *Table) LookupBurst(now int64, keys []Key, hashes []uint64, out []*Flow) (fresh uint64) {
	index := t.Index()
	return t.Resolve(now, keys, hashes, out, index.Find(now, keys, hashes, out))
}

// Resolve finds or makes the flows out[j] that Find has not found: those whose bit j of
// missing is set.
func (t *Table) Resolve(now int64, keys []Key, hashes []uint64, out []*Flow, missing uint64) (fresh uint64) {
	for left := missing; left != 0; left &= left - 1 {
		out[bits.TrailingZeros64(left)] = nil
	}
	for left := missing; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		f, made := t.findOrInsert(now, hashes[j], &keys[j], out)
		if out[j] = f; made {
			fresh |= 1 << j
		}
	}
	return fresh
}

// findOrInsert looks at every place where the flow may be. held are flows that must not
// make room for it.
//
//go:noinline
func (t *Table) findOrInsert(now int64, h uint64, k *Key, held []*Flow) (f *Flow, fresh bool) {
	for _, b := range t.candidates(h) {
		if f := t.findIn(b, tagOf(h), k); f != nil {
			f.seen = now
			return f, false
		}
	}
	f = t.insert(now, h, k, held)
	return f, f != nil
}

// Index holds the part of a Table that hashes a key, as Hash does, and finds most flows, in C all. The C of
// engine/fast reads it.
type Index struct {
	hasher
	Mask      uint64  // of a hash: bytes behind Buckets
	Buckets   uintptr // of the table
	Flows     uintptr // the first of its flows
	Alternate uint64  // what tells the other bucket of a flow
}

// Index returns the Index of t, valid until t is closed.
func (t *Table) Index() Index {
	// SAFETY: what the addresses point to is outside the Go heap and does not move.
	return Index{
		hasher: t.hasher, Mask: t.mask << bucketShift,
		Buckets: uintptr(unsafe.Pointer(&t.buckets[0])), Flows: uintptr(unsafe.Pointer(&t.flows[0])),
		Alternate: prime1,
	}
}

// Hash is Table.Hash.
func (x *Index) Hash(k *Key) uint64 { return x.hash(k) }

// Find looks for the flow of every key where it most likely is: in the first bucket that
// has its tag. Bit j of missing tells that out[j] is not the flow of keys[j].
//
// Each pass only asks for what the next one needs, for all keys: the cache misses of a
// pass overlap, where one key after the other would wait for each.
func (x *Index) Find(now int64, keys []Key, hashes []uint64, out []*Flow) (missing uint64) {
	hashes, out = hashes[:len(keys)], out[:len(keys)]
	for j, h := range hashes {
		// SAFETY: Mask keeps the bucket within the table, which is outside the Go heap;
		// buckets tell places of flows that there are.
		b := (*bucket)(unsafe.Add(outside(x.Buckets), h&x.Mask))
		out[j] = (*Flow)(unsafe.Add(outside(x.Flows), uintptr(b.find(tagOf(h)))*unsafe.Sizeof(Flow{})))
	}
	touch(out)
	for j, f := range out {
		if f.Key.Equal(&keys[j]) {
			f.seen = now
		} else {
			missing |= 1 << j
		}
	}
	return missing
}

// outside makes an address of memory outside the Go heap a pointer.
func outside(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// find returns the place of the first flow with a tag, 0 where there is none.
func (b *bucket) find(tag uint16) uint32 {
	m, s := matches(b.tags[0], tag), uint64(0)
	if m == 0 {
		if m = matches(b.tags[1], tag); m == 0 {
			return 0
		}
		s = 4
	}
	return b.flows[(s+slot(m))&(slots-1)]
}

// touch loads the first two lines of each flow, so that their cache misses overlap.
//
//go:noinline
func touch(out []*Flow) (sum uint64) {
	for _, f := range out {
		sum += f.Key.portsProto + uint64(f.seen)
	}
	return sum
}

// Walk calls f for the flows from place at on until budget is used up: a place costs 1, a flow
// the number that f returns. It returns the place to go on from, 0 when all were seen, and the
// rest of budget, which the last flow may make negative. f may not change the table.
func (t *Table) Walk(at, budget int, f func(*Flow) int) (next, left int) {
	for ; budget > 0 && at < t.slab.used; at++ {
		budget--
		if flow := &t.flows[at]; !flow.Key.removed() {
			budget -= f(flow)
		}
	}
	if at >= t.slab.used {
		return 0, budget
	}
	return at, budget
}

// Find returns the flow of k, or nil. Unlike LookupBurst it does not mark the flow as seen.
func (t *Table) Find(k *Key) *Flow {
	h := t.Hash(k)
	for _, b := range t.candidates(h) {
		if f := t.findIn(b, tagOf(h), k); f != nil {
			return f
		}
	}
	return nil
}

// findIn returns the flow of k in bucket b, or nil.
func (t *Table) findIn(b uint64, tag uint16, k *Key) *Flow {
	bk := &t.buckets[b]
	for w := range uint64(len(bk.tags)) {
		for m := matches(bk.tags[w], tag); m != 0; m &= m - 1 {
			s := w*4 + slot(m)
			if f := &t.flows[bk.flows[s&(slots-1)]]; bk.tag(s) == tag && f.Key.Equal(k) {
				return f
			}
		}
	}
	return nil
}
