// New flows: a free slot, one that cuckoo displacement frees, or that of a victim.

package flows

// insert stores a new flow in a free slot of either candidate bucket, or in one that displace
// frees, or in place of the idlest flow of both that is not in held (flows of this burst).
// nil: no room, or too many evictions lately.
func (t *Table) insert(now int64, h uint64, k *Key, held []*Flow) *Flow {
	for _, b := range t.candidates(h) {
		if s, is := t.buckets[b].freeSlot(); is {
			return t.initFlow(now, b, s, t.alloc(), h, k)
		}
	}
	if !t.mayEvict(now) {
		t.refused++
		return nil
	}
	if b, s, is := t.displace(h); is {
		return t.initFlow(now, b, s, t.alloc(), h, k)
	}
	b, s, is := t.victim(now, h, held)
	if !is {
		t.refused++
		return nil
	}
	t.evicted = max(t.evicted, now) + evictionNs
	t.evictions++
	return t.initFlow(now, b, s, t.buckets[b].flows[s], h, k)
}

// displace frees a slot of either candidate of h by moving its flow to that flow's alternate
// bucket (one step of cuckoo hashing); the flow keeps its place. A table can thus be filled
// to four fifths before a flow is evicted. It does not try where the table is more than
// 31/32 full: free slots are rare then, and a flood would pay for the search.
//
//go:noinline
func (t *Table) displace(h uint64) (b, s uint64, is bool) {
	if t.Len() >= len(t.flows)-len(t.flows)/32 {
		return 0, 0, false
	}
	for _, b := range t.candidates(h) {
		bk := &t.buckets[b]
		for s := range uint64(slots) {
			other := &t.buckets[t.alternate(b, bk.tag(s))]
			if free, is := other.freeSlot(); is {
				other.set(free, bk.tag(s), bk.flows[s])
				other.births[free] = bk.births[s]
				return b, s, true
			}
		}
	}
	return 0, 0, false
}

// initFlow starts a new flow at place i, and stores the place in slot s of bucket b.
func (t *Table) initFlow(now int64, b, s uint64, i uint32, h uint64, k *Key) *Flow {
	bk := &t.buckets[b]
	bk.set(s, tagOf(h), i)
	bk.births[s] = birthTick(now)
	t.countNew(now)
	f := &t.flows[i]
	*f = Flow{Key: k.canonical(), seen: now, cold: &t.cold[i], loss: &t.losses[i]}
	return f
}
