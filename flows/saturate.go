// Saturate: moves times of 32 bits up before they wrap.

package flows

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
