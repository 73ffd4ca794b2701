// Age: the clock hand that finds idle and closing flows and removes them; Saturate moves
// times of 32 bits up before they wrap.

package flows

import (
	"math/bits"
)

const (
	agePeriod    = 4e9 // the hand goes once around the table in this time
	closingQuiet = 2e9 // silence that ends a flow after FIN or RST
)

// Age moves the clock hand to where it belongs at now and removes the flows
// that it finds idle, after calling gone with each. Called every millisecond or
// so, it looks at a small part of all places each time; a flow ends at most four
// seconds after it became idle.
func (t *Table) Age(now int64, gone func(*Flow)) {
	if t.handTime == 0 {
		t.handTime = now
	}
	total := int64(len(t.flows))
	due := total
	if elapsed := now - t.handTime; elapsed >= 0 && elapsed < agePeriod {
		due = elapsed * total / agePeriod
		t.handTime += due * agePeriod / total
	} else {
		t.handTime = now
	}
	for ; due > 0; due-- {
		i, visit := t.placeOfTurn(t.hand), t.visiting(now)
		if i < t.slab.used {
			t.agePlace(uint32(i), now, gone)
			if f := &t.flows[i]; visit && !f.Key.removed() {
				f.saturate(now)
			}
		}
		if t.hand++; t.hand == len(t.flows) {
			t.hand = 0
		}
	}
}

// ageBlock places side by side are looked at one after the other.
const ageBlock = 64

// placeOfTurn returns the place that is looked at when the hand is at n. Flows that came together
// stand side by side, so the hand would end all of them within a small part of a round: more than
// the rate of flow_end allows. So blocks come in the order of their numbers' bits reversed, which
// spreads those in use evenly over the round.
func (t *Table) placeOfTurn(n int) int {
	blocks := len(t.flows) / ageBlock
	if blocks <= 1 {
		return n
	}
	block := bits.Reverse64(uint64(n/ageBlock)) >> (bits.LeadingZeros64(uint64(blocks)) + 1)
	return int(block)*ageBlock + n%ageBlock
}

// agePlace removes the flow at place i if it is idle. It reads the flow's first cache line
// only where the second, with the time of the last packet, shows that it may be.
func (t *Table) agePlace(i uint32, now int64, gone func(*Flow)) {
	f := &t.flows[i]
	silent := now - f.seen
	if silent < closingQuiet && silent < t.idle || f.Key.removed() {
		return
	}
	if silent >= t.idle || f.Closing() {
		gone(f)
		t.remove(i)
	}
}

// Lifetime returns how long ago f came, in nanoseconds; times wrap after 275 seconds.
func (t *Table) Lifetime(now int64, f *Flow) int64 {
	h := t.Hash(&f.Key)
	for _, b := range t.candidates(h) {
		bk := &t.buckets[b]
		for s := range uint64(slots) {
			if bk.tag(s) == tagOf(h) && &t.flows[bk.flows[s]] == f {
				return int64(birthTick(now)-bk.births[s]) << birthShift
			}
		}
	}
	return 0
}

// remove frees place i and the slot that holds it.
func (t *Table) remove(i uint32) {
	h := t.Hash(&t.flows[i].Key)
	for _, b := range t.candidates(h) {
		bk := &t.buckets[b]
		for s := range uint64(slots) {
			if bk.tag(s) == tagOf(h) && bk.flows[s] == i {
				bk.setTag(s, 0)
				t.free(i)
				return
			}
		}
	}
}

// Times of 32 bits would come again after 13 or 52 days. So each flow is visited once in
// twelve hours, and those that are too old to be told apart are moved up: to 26 days ago,
// and a refresh that was never asked for to 3 days ago.
const (
	visitEvery = 12 * 3600 * 1e9
	oldestTick = 1 << 31
	oldestDue  = 1 << 30
)

// visiting reports whether the flow that the hand of Age is at is to be visited.
func (t *Table) visiting(now int64) bool {
	if now-t.visited >= visitEvery || now < t.visited {
		t.visited, t.unvisited = now, len(t.flows)
	}
	if t.unvisited == 0 {
		return false
	}
	t.unvisited--
	return true
}

// saturate moves up the times of f that are too old.
func (f *Flow) saturate(now int64) {
	tick, due := Tick(now), uint32(now>>RefreshShift)
	if tick-f.PathSeen > oldestTick {
		f.PathSeen = tick - oldestTick
	}
	if f.LastReport != 0 && tick-f.LastReport > oldestTick {
		f.LastReport = max(tick-oldestTick, 1)
	}
	if f.NextRefresh != 0 && int32(due-f.NextRefresh) > oldestDue {
		f.NextRefresh = max(due-oldestDue, 1)
	}
}

// Saturate visits the next entry, so that it does not seem to have been seen lately when
// its Tick comes again. It is to be called every millisecond or so.
func (t *Small[V]) Saturate(now int64) {
	if e := &t.entries[t.hand]; e.used && Tick(now)-e.tick > oldestTick {
		e.tick = Tick(now) - oldestTick
	}
	if t.hand++; t.hand == len(t.entries) {
		t.hand = 0
	}
}
