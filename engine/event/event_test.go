package event

import "testing"

// Every event has one priority, and a report has that of its first event.
func TestPriority(t *testing.T) {
	for e := range NumEvents {
		n := 0
		for _, of := range priorities {
			if of.Has(e) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%v has %d priorities", e, n)
		}
	}
	set := func(events ...Event) (s Set) {
		for _, e := range events {
			s |= e.Set()
		}
		return s
	}
	order := []Set{
		set(Drop, Sample), set(Congestion, PathChange), set(PathChange, Congestion), set(Congestion, NewFlow),
		set(NewFlow, Refresh), set(Refresh, Sample), set(Sample),
	}
	for i, s := range order {
		if got := s.Priority(i == 1); got != Priority(i) {
			t.Errorf("events %b: priority %d, want %d", s, got, i)
		}
	}
	if got := set(Loss).Priority(true); got != PriorityLoss {
		t.Errorf("loss at an edge: priority %d", got)
	}
	if got := set(HopLatency).Priority(true); got != PriorityLatency {
		t.Errorf("a latency beside the edge of something not asked for: priority %d", got)
	}
}

// The detector tells the edges of an episode from what is in between.
func TestEdge(t *testing.T) {
	p := defaults(Congestion)
	p.Thresholds.CongestionLatency, p.Thresholds.CongestionQuota, p.Thresholds.CongestionTimeout = 50_000, 1000, second
	f := start(t, p)
	f.packet(0, path(2, 5000), 0)
	for i, step := range []struct {
		latency uint32
		want    Set
		edge    bool
	}{
		{60_000, Congestion.Set(), true}, {60_000, Congestion.Set(), false}, {60_000, 0, false},
		{5000, Congestion.Set(), true}, {5000, 0, false}, {60_000, Congestion.Set(), true},
	} {
		f.packet(ms, path(2, step.latency), step.want)
		if step.want != 0 && f.d.Edge != step.edge {
			t.Errorf("packet %d: edge %v", i, f.d.Edge)
		}
	}
}

// A stretched refresh comes so much later, and never too late to be seen as due.
func TestStretch(t *testing.T) {
	for _, every := range []int64{second, 24 * 3600 * second} {
		p := defaults(Refresh)
		p.Thresholds.RefreshEvery, p.Thresholds.RefreshJitter = every, 0
		f := start(t, p)
		f.d.Stretch = 1500
		f.packet(0, path(2, 5000), 0)
		f.packet(min(15*every, maxRefresh)-second, path(2, 5000), 0)
		f.packet(2*second, path(2, 5000), Refresh.Set())
	}
}
