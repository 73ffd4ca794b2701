package flows

// insert takes a free slot of either bucket, or makes one by moving what another tells to
// its other bucket, or evicts the idlest flow of both that is not in held. nil: there is
// no room, or there have been too many evictions.
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

// displace moves what a slot of either bucket of h tells to the flow's other bucket, where
// there is a free one, and returns the slot. The flow itself stays in its place. So a table
// may be filled by four fifths before anybody is evicted. In one that is all but full there
// is hardly a free slot to be found, and a flood to be borne: there it does not try.
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

// initFlow makes place i that of a new flow, which slot s of bucket b tells.
func (t *Table) initFlow(now int64, b, s uint64, i uint32, h uint64, k *Key) *Flow {
	bk := &t.buckets[b]
	bk.set(s, tagOf(h), i)
	bk.births[s] = birthTick(now)
	t.countNew(now)
	f := &t.flows[i]
	*f = Flow{Key: k.canonical(), seen: now, cold: &t.cold[i], loss: &t.losses[i]}
	return f
}
