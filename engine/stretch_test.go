package engine

import (
	"testing"

	"intsink/engine/event"
	"intsink/engine/reporting"
)

// refreshing lets flows send a packet every 50 ms for so many seconds, and returns
// how many refreshes came in the last of them.
func (b *bed) refreshing(frames [][]byte, seconds int) uint64 {
	before := uint64(0)
	for tick := range seconds * 20 {
		if tick == (seconds-1)*20 {
			before = b.counters.Reported[event.Refresh]
		}
		b.network.RX = frames
		for b.Poll() > 0 {
		}
		b.step(50e6)
		b.host.TX = nil
		b.sealed()
	}
	return b.counters.Reported[event.Refresh] - before
}

func TestRefreshIsStretched(t *testing.T) {
	const flows = 400 // with 200 refreshes a second
	frames := make([][]byte, flows)
	for i := range frames {
		frames[i] = withINT(t, plain(i), nil)
	}
	b := newBed(t, func(r *Rules) { r.Report.MaxReports = 1 })
	change := func(packets uint64) {
		next := *b.rules
		next.setBudgets(reporting.Budget{Packets: packets, Burst: 1e9})
		b.Reload(&next)
	}
	if n := b.refreshing(frames, 8); n < 150 || b.detector.Stretch != 100 {
		t.Errorf("%d refreshes in a second, stretched to %d %% without a budget", n, b.detector.Stretch)
	}
	change(50)
	b.refreshing(frames, 60)
	if s := b.detector.Stretch; s < 300 || s > 800 {
		t.Errorf("stretched to %d %%, where a quarter of the refreshes has room", s)
	}
	shed := b.counters.Shed[event.Refresh]
	b.refreshing(frames, 20)
	if n := b.counters.Shed[event.Refresh] - shed; n > 20*50 {
		t.Errorf("%d refreshes shed in 20 s although stretched", n)
	}
	change(1)
	b.refreshing(frames, 60)
	if s := b.detector.Stretch; s != 1500 {
		t.Errorf("stretched to %d %%, the most is 1500", s)
	}
	change(0)
	if n := b.refreshing(frames, 120); n < 150 || b.detector.Stretch != 100 {
		t.Errorf("%d refreshes in a second, stretched to %d %% when the budget is gone", n, b.detector.Stretch)
	}
	b.balance()
}
