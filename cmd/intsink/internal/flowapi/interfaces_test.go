package flowapi

import (
	"testing"

	"intsink/engine/aside/inspect"
	"intsink/engine/event"
	"intsink/engine/watch"
)

// TestBusyNow: an interface whose packets do not come any more is busy for ten minutes, or for as long as a watch holds.
func TestBusyNow(t *testing.T) {
	const second = int64(1e9)
	for _, c := range []struct {
		name       string
		busy, want bool
		age, hold  int64
	}{
		{"not busy", false, false, 0, 0},
		{"ten minutes", true, true, 600 * second, 0},
		{"longer", true, false, 600*second + 1, 0},
		{"held for longer", true, true, 3600 * second, 3600 * second},
		{"longer than held", true, false, 3600*second + 1, 3600 * second},
	} {
		q := &inspect.PendingQuery{Query: new(inspect.Query)}
		q.Now = 1e18
		q.Watches = []watch.Watch{{Policy: event.Policy{Thresholds: event.Thresholds{TxHold: c.hold}}}}
		if got := busyNow(q, &event.Interface{Busy: c.busy, Seen: q.Now - c.age}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
