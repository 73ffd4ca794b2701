package flows

const (
	agePeriod    = 4e9 // the hand goes once around the table in this time
	closingQuiet = 2e9 // silence that ends a flow after FIN or RST
)

// Age moves the clock hand to where it belongs at now and removes the flows
// that it finds idle, after calling gone with each. Called every millisecond or
// so, it does a small part of the table each time; a flow ends at most four
// seconds after it became idle.
func (t *Table) Age(now int64, gone func(*Flow)) {
	if t.handTime == 0 {
		t.handTime = now
	}
	total := int64(len(t.buckets))
	due := total
	if elapsed := now - t.handTime; elapsed >= 0 && elapsed < agePeriod {
		due = elapsed * total / agePeriod
		t.handTime += due * agePeriod / total
	} else {
		t.handTime = now
	}
	for ; due > 0; due-- {
		t.ageBucket(t.hand, now, gone)
		if t.hand++; t.hand == len(t.buckets) {
			t.hand = 0
		}
	}
}

func (t *Table) ageBucket(b int, now int64, gone func(*Flow)) {
	bk := &t.buckets[b]
	tick, quiet := Tick(now), Tick(closingQuiet)
	for s := range uint64(slots) {
		if bk.tag(s) == 0 || tick-bk.seen[s] < quiet && tick-bk.seen[s] < Tick(t.idle) {
			continue
		}
		f := &t.flows[uint64(b)*slots+s]
		silent := now - f.seen
		if silent >= t.idle || f.Closing && silent >= closingQuiet {
			gone(f)
			bk.setTag(s, 0)
			f.Key.leave()
			t.n--
		} else if t.sparse {
			bk.seen[s] = Tick(f.seen)
		}
	}
}
