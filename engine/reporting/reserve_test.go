package reporting

import (
	"testing"

	"intsink/engine/event"
)

// TestEachPriorityLeavesASeventhMore: of a burst of 700 packets at once, loss may spend all,
// and each priority below it a seventh less.
func TestEachPriorityLeavesASeventhMore(t *testing.T) {
	for p := range event.NumPriorities {
		l := limit{bucket: NewBucket()}
		l.configure(Budget{Packets: 1000, Burst: 700e6})
		spent := 0
		for l.take(p, true, 0, 1e9) {
			spent++
		}
		if want := 700 - 100*int(p); spent != want {
			t.Errorf("priority %d: %d packets, want %d", p, spent, want)
		}
	}
}
