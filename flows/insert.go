package flows

// newFlowHandicap is by how much a flow of one packet passes for idler than it is: a second. A
// flood of such flows then takes its own places over and over, however fast it is, not
// those of flows that have a packet each second.
const newFlowHandicap = 1e9

// Evictions are for tables that are a little too small. In a flood, where most would
// make room for flows that are never seen again, they are not worth their time: at most
// 100,000 a second, and 1000 at once.
const (
	evictionNs    = 10_000
	evictionBurst = 1000 * evictionNs
)

// mayEvict tells whether there has been no flood of evictions lately. The time up to
// which they are spent runs ahead of the clock by no more than a burst.
func (t *Table) mayEvict(now int64) bool { return t.evicted-now <= evictionBurst }

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

// victim is the slot of the idlest flow of both buckets that is not in held.
func (t *Table) victim(now int64, h uint64, held []*Flow) (b, s uint64, is bool) {
	oldest := int64(0)
	for _, at := range t.candidates(h) {
		for n, i := range t.buckets[at].flows {
			f := &t.flows[i]
			age := now - f.seen
			if age == 0 && isInBurst(held, f) {
				continue
			}
			if f.packets <= 1 {
				age += newFlowHandicap
			}
			if !is || age > oldest {
				b, s, oldest, is = at, uint64(n), age, true
			}
		}
	}
	return b, s, is
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
				return b, s, true
			}
		}
	}
	return 0, 0, false
}

func isInBurst(held []*Flow, f *Flow) bool {
	for _, h := range held {
		if h == f {
			return true
		}
	}
	return false
}

// initFlow makes place i that of a new flow, which slot s of bucket b tells.
func (t *Table) initFlow(now int64, b, s uint64, i uint32, h uint64, k *Key) *Flow {
	t.buckets[b].set(s, tagOf(h), i)
	f := &t.flows[i]
	*f = Flow{Key: k.canonical(), seen: now, cold: &t.cold[i], loss: &t.losses[i]}
	return f
}
