// Inserts a new flow: into a free slot, one that cuckoo displacement frees, or that of a
// victim; which flow makes room, and when evictions are refused (floods, newcomers).

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
	if f := &t.flows[t.buckets[b].flows[s]]; f.HasCold() && t.leaves != nil {
		t.leaves(f)
	}
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
	*f = Flow{Key: k.Canonical(), seen: now, cold: &t.cold[i], loss: &t.losses[i]}
	return f
}

// Evictions are for tables that are a little too small. In a flood, where most would
// make room for flows that are never seen again, they are not worth their time: at most
// 100,000 a second, and 1000 at once.
const (
	evictionNs    = 10_000
	evictionBurst = 1000 * evictionNs
)

// Where new flows would replace the whole table in less than two seconds, or come faster
// than evictions are allowed, there is a flood, and it matters which flows it takes.
const (
	turnover  = 2e9
	floodOnly = 16 // new flows at once that are no flood
)

// A flow that may be of a flood counts as idler than it is.
const (
	newcomer  = 1e9        // a flow of one packet; in a flood, any young one
	bystander = 2e9        // in a flood, a young one of one packet, or silent for half of its time
	youth     = int64(4e9) // after which a flow is young no more
)

// The time of a flow's birth wraps after 275 seconds. A flow with more packets than a few
// is not young: one with a packet every half second has more when that time comes again.
const (
	birthShift = 22 // of nanoseconds: units of 4 ms
	fewPackets = 512
)

// birthTick returns a time as bucket.births has it.
func birthTick(now int64) uint16 { return uint16(now >> birthShift) }

// mayEvict reports whether there has been no flood of evictions lately. evicted is the time that
// evictions are spent up to; it runs ahead of the clock by no more than a burst.
func (t *Table) mayEvict(now int64) bool { return t.evicted-now < evictionBurst }

// flooded reports whether new flows come faster than they do to a table that is a little too
// small.
func (t *Table) flooded(now int64) bool { return t.crowded-now > floodOnly*t.crowdNs() }

// crowdNs returns the time from one new flow to the next above which there is no flood.
func (t *Table) crowdNs() int64 { return max(turnover/int64(len(t.flows)), evictionNs) }

// countNew takes a new flow into the rate of new flows.
func (t *Table) countNew(now int64) {
	ns := t.crowdNs()
	t.crowded = min(max(t.crowded, now)+ns, now+2*floodOnly*ns)
}

// victim returns the slot of the idlest flow of both buckets that is not in held.
func (t *Table) victim(now int64, h uint64, held []*Flow) (b, s uint64, is bool) {
	oldest, flood := int64(0), t.flooded(now)
	for _, at := range t.candidates(h) {
		bk := &t.buckets[at]
		for n, i := range bk.flows {
			f := &t.flows[i]
			idle := now - f.seen
			if idle == 0 && isInBurst(held, f) {
				continue
			}
			if flood {
				idle = f.idleInFlood(idle, birthTick(now)-bk.births[n])
			} else if f.packets <= 1 {
				idle += newcomer
			}
			if !is || idle > oldest {
				b, s, oldest, is = at, uint64(n), idle, true
			}
		}
	}
	return b, s, is
}

// idleInFlood returns the idle time that victim compares while there is a flood. Young flows are
// evicted first. Among them, flows of one packet and flows that were silent for half of their
// time come first, the youngest of them before the others: older ones were there before the
// flood. So flows of a flood evict each other, and a flow that has had packets for longer stays.
func (f *Flow) idleInFlood(idle int64, ticks uint16) int64 {
	age := int64(ticks) << birthShift
	if age >= youth || f.packets >= fewPackets {
		return idle
	}
	late := (youth - age + min(idle, 1<<birthShift)) / 4 // of the same age, the idler one
	if f.packets <= 1 || 2*idle >= age+1<<birthShift {
		return bystander + late
	}
	return newcomer + late
}

func isInBurst(held []*Flow, f *Flow) bool {
	for _, h := range held {
		if h == f {
			return true
		}
	}
	return false
}
