package engine

import "testing"

func TestPace(t *testing.T) {
	var p pace
	now := int64(1e18)
	f := func(gap, longest int64, over ...uint64) {
		t.Helper()
		now += gap
		p.note(gap, now)
		if p.LongestNs != longest || p.Over != [len(LongGaps)]uint64(over) {
			t.Errorf("after a gap of %d: longest %d, want %d; over %v, want %v", gap, p.LongestNs, longest, p.Over, over)
		}
	}
	f(5e3, 5e3, 0, 0, 0)
	f(4e3, 5e3, 0, 0, 0)
	f(100e3, 100e3, 1, 0, 0)
	f(20e6, 20e6, 2, 1, 1)
	f(2e6, 20e6, 3, 2, 1)
	now += paceWindowNs
	f(1e3, 20e6, 3, 2, 1) // the window before still counts
	now += paceWindowNs
	f(2e3, 2e3, 3, 2, 1)
}

// The gap between two polls of Run, by the clock's account.
func TestRunNotesGaps(t *testing.T) {
	b := newBed(t, func(*Rules) {})
	n := 0
	b.clock = func() int64 {
		b.now += 3e6
		if n++; n == 8 {
			b.Stop()
		}
		return b.now
	}
	b.Run(func(int) {})
	if p := b.Snapshot().Pace; p.LongestNs != 3e6 || p.Over != [len(LongGaps)]uint64{7, 7, 0} {
		t.Errorf("%+v", p)
	}
}

func BenchmarkPace(b *testing.B) {
	var p pace
	for now := int64(1); b.Loop(); now += 1000 {
		p.note(1000, now)
	}
}
