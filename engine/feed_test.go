package engine

import (
	"testing"

	"intsink/engine/event"
	"intsink/engine/inspect"
)

// TestFeedTellsReports: what is reported is in the feed once, with its flow and path,
// and a feed that nobody reads stays empty.
func TestFeedTellsReports(t *testing.T) {
	b := sampled(t, nil)
	b.send(withINT(t, plain(1), nil))
	b.Feed().Turn(true)
	b.send(withINT(t, plain(1), nil), withINT(t, plain(2), nil), plain(3))
	got, missed := b.Feed().Take(nil, 10)
	if len(got) != 2 || missed != 0 {
		t.Fatalf("%d notices, %d missed, want 2 and 0", len(got), missed)
	}
	for i, want := range []event.Set{event.Sample.Set(), event.Sample.Set() | event.NewFlow.Set()} {
		n := &got[i]
		if n.Events&want != want || !n.Tracked || !n.Known || n.Path.Hops != 3 || n.Time == 0 {
			t.Errorf("notice %d: %+v", i, n)
		}
		if id := inspect.FlowID(&n.Key); id == "" || i > 0 && id == inspect.FlowID(&got[0].Key) {
			t.Errorf("notice %d is about %s", i, id)
		}
	}
	b.balance()
}
