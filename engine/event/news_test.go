package event

import "testing"

// TestNews: a report is news where any of its events is more than a sign of life; each event stands in one class.
func TestNews(t *testing.T) {
	for e := range NumEvents {
		want := ChangeNews
		switch e {
		case NewFlow, FlowEnd:
			want = FlowNews
		case Refresh, Sample:
			want = NoNews
		}
		if got := e.Set().News(); got != want {
			t.Errorf("%v is %v, want %v", e, got, want)
		}
		if got := (e.Set() | Refresh.Set()).News(); got != want {
			t.Errorf("%v with a refresh is %v", e, got)
		}
	}
	if got := (NewFlow.Set() | Congestion.Set()).News(); got != ChangeNews {
		t.Errorf("a new flow in a full queue is %v", got)
	}
}
