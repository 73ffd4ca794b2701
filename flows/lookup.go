// LookupBurst, Resolve and Index.Find: the search for the flows of a burst; Walk visits all
// flows slice by slice, Find one by its key, for the API.

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

// Resolve makes the flows out[j] that Find has not found just now: those whose bit j of missing is set.
func (t *Table) Resolve(now int64, keys []Key, hashes []uint64, out []*Flow, missing uint64) (fresh uint64) {
	index := t.Index()
	for ; missing != 0; missing &= missing - 1 {
		j := bits.TrailingZeros64(missing)
		if fresh != 0 { // one of them may be this one's
			if out[j] = index.find(hashes[j], &keys[j]); out[j] != nil {
				continue
			}
		}
		if out[j] = t.insert(now, hashes[j], &keys[j], out); out[j] != nil {
			fresh |= 1 << j
		}
	}
	return fresh
}

// Index holds the part of a Table that hashes a key, as Hash does, and finds flows. The C of engine/fast reads it, and
// finds flows itself.
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

// Find looks for the flow of every key. Bit j of missing tells that there is none of keys[j]; out[j] is nil then.
func (x *Index) Find(now int64, keys []Key, hashes []uint64, out []*Flow) (missing uint64) {
	for j := range keys {
		if out[j] = x.find(hashes[j], &keys[j]); out[j] != nil {
			out[j].seen = now
		} else {
			missing |= 1 << j
		}
	}
	return missing
}

// find returns the flow of k, or nil.
func (x *Index) find(h uint64, k *Key) *Flow {
	tag, other := tagOf(h), h^uint64(tagOf(h))*x.Alternate>>24<<bucketShift
	if f := x.findIn(x.bucket(h), tag, k); f != nil {
		return f
	}
	return x.findIn(x.bucket(other), tag, k)
}

// bucket returns the bucket that a hash names.
func (x *Index) bucket(h uint64) *bucket {
	// SAFETY: Mask keeps the bucket within the table, which is outside the Go heap.
	return (*bucket)(unsafe.Add(outside(x.Buckets), h&x.Mask))
}

// findIn returns the flow of k in a bucket, or nil.
func (x *Index) findIn(b *bucket, tag uint16, k *Key) *Flow {
	for w := range uint64(len(b.tags)) {
		for m := matches(b.tags[w], tag); m != 0; m &= m - 1 {
			s := w*4 + slot(m)
			// SAFETY: buckets tell places of flows that there are.
			f := (*Flow)(unsafe.Add(outside(x.Flows), uintptr(b.flows[s&(slots-1)])*unsafe.Sizeof(Flow{})))
			if b.tag(s) == tag && f.Key.Equal(k) {
				return f
			}
		}
	}
	return nil
}

// outside makes an address of memory outside the Go heap a pointer.
func outside(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// Walk calls f for the flows from place at on until budget is used up: a place costs 1, a flow
// the number that f returns. It returns the place to go on from, 0 when all were seen, and the
// rest of budget, which the last flow may make negative. f may not change the table.
func (t *Table) Walk(at, budget int, f func(*Flow) int) (next, left int) {
	return t.WalkPart(at, budget, len(t.flows), f)
}

// WalkPart is Walk of a part of a table with more than most places in use: about as many, each time the same.
func (t *Table) WalkPart(at, budget, most int, f func(*Flow) int) (next, left int) {
	stride := 1
	for t.slab.used > stride*most {
		stride *= 2
	}
	for ; budget > 0 && at < t.slab.used; at++ {
		if at/ageBlock%stride != 0 {
			at += ageBlock - at%ageBlock - 1
			continue
		}
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

// Place returns where f, a flow of t, stands among the flows of t: from 0 on, below Places.
func (t *Table) Place(f *Flow) int {
	return int((uintptr(unsafe.Pointer(f)) - uintptr(unsafe.Pointer(&t.flows[0]))) / unsafe.Sizeof(Flow{}))
}

// Places is how many flows t has room for.
func (t *Table) Places() int { return len(t.flows) }

// Find returns the flow of k, or nil. Unlike LookupBurst it does not mark the flow as seen.
func (t *Table) Find(k *Key) *Flow {
	index := t.Index()
	return index.find(t.Hash(k), k)
}
