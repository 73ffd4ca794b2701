package flows

// newcomer is by how much a flow of one packet passes for idler than it is, in
// ticks: a second. A flood of such flows then takes its own places over and over,
// however fast it is, not those of flows that have a packet each second.
const newcomer = 1e9 >> 20

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

// insert takes a free slot of either bucket, or makes one by moving a flow to its
// other bucket, or evicts the idlest flow of both that is not in held. nil: there is no
// room, or there have been too many evictions.
func (t *Table) insert(now int64, h uint64, k *Key, held []*Flow) *Flow {
	if !t.mayEvict(now) && !t.buckets[h&t.mask].hasFree() && !t.buckets[t.second(h)].hasFree() {
		t.refused++
		return nil
	}
	tick := Tick(now)
	var victim uint64
	oldest, found := uint32(0), false
	for _, b := range [2]uint64{h & t.mask, t.second(h)} {
		bk := &t.buckets[b]
		for s := range uint64(slots) {
			at := b*slots + s
			if bk.tag(s) == 0 {
				t.n++
				return t.place(now, at, tagOf(h), k)
			}
			age := tick - bk.seen[s]
			if found && age <= oldest || (t.sparse || age == 0 || age == newcomer) && isHeld(held, &t.flows[at]) {
				continue
			}
			victim, oldest, found = at, age, true
		}
	}
	if at, ok := t.makeRoom(now, h, held); ok {
		t.n++
		return t.place(now, at, tagOf(h), k)
	}
	if !found {
		t.refused++
		return nil
	}
	t.evicted = max(t.evicted, now) + evictionNs
	t.evictions++
	return t.place(now, victim, tagOf(h), k)
}

// makeRoom moves a flow of either bucket of h to its other one, where there is a free
// slot, and returns the slot that it was in. So a table may be filled by four fifths
// before anybody is evicted. In one that is all but full there is hardly a free slot
// to be found, and a flood to be borne: there it does not try.
//
//go:noinline
func (t *Table) makeRoom(now int64, h uint64, held []*Flow) (at uint64, ok bool) {
	if t.n >= len(t.flows)-len(t.flows)/32 {
		return 0, false
	}
	for _, b := range [2]uint64{h & t.mask, t.second(h)} {
		bk := &t.buckets[b]
		for s := range uint64(slots) {
			other := t.other(b, bk.tag(s))
			free, is := t.buckets[other].free()
			if from := b*slots + s; is && t.movable(now, from, held) {
				t.move(from, other*slots+free)
				return from, true
			}
		}
	}
	return 0, false
}

// movable tells whether nothing holds on to the place of a flow: no packet of this
// burst, no list of flows with losses, and no end that is due, which the hand might
// then find too late.
func (t *Table) movable(now int64, at uint64, held []*Flow) bool {
	f := &t.flows[at]
	return !f.Closing && !f.HasLoss() && now-f.seen < t.idle && !isHeld(held, f)
}

// move takes the flow in slot from to the free slot to.
func (t *Table) move(from, to uint64) {
	a, b := &t.buckets[from/slots], &t.buckets[to/slots]
	b.setTag(to%slots, a.tag(from%slots))
	b.seen[to%slots] = a.seen[from%slots]
	a.setTag(from%slots, 0)
	f := &t.flows[to]
	*f = t.flows[from]
	f.cold, f.loss = &t.cold[to], &t.losses[to]
	if f.HasCold() {
		*f.cold = t.cold[from]
	}
	t.flows[from].Key = Key{}
}

func isHeld(held []*Flow, f *Flow) bool {
	for _, h := range held {
		if h == f {
			return true
		}
	}
	return false
}

func (t *Table) place(now int64, at uint64, tag uint16, k *Key) *Flow {
	bk, s := &t.buckets[at/slots], at%slots
	bk.setTag(s, tag)
	bk.seen[s] = Tick(now) - newcomer
	f := &t.flows[at]
	*f = Flow{Key: k.settled(), seen: now, cold: &t.cold[at], loss: &t.losses[at]}
	return f
}
