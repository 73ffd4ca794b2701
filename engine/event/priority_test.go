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
