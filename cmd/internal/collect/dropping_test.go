package collect

import (
	"testing"
	"time"

	"intsink/exporters/collect"
)

// TestDropping: a collector drops records until a while after the last one, and what a receiver does not take is not meant.
func TestDropping(t *testing.T) {
	var d dropping
	now := time.Unix(1763776800, 0)
	outputs := make([]collect.OutputSnapshot, 2)
	for i, c := range []struct {
		why   collect.Reason
		after time.Duration
		want  bool
	}{
		{collect.NoFlow, 0, false}, {collect.TooLarge, time.Second, false}, {collect.SpoolFull, time.Second, true}, {collect.NoFlow, 14 * time.Second, true},
		{collect.NoFlow, time.Second, false}, {collect.QueueFull, time.Second, true}, {collect.SpoolFailed, 14 * time.Second, true}, {collect.NoFlow, 14 * time.Second, true},
	} {
		now = now.Add(c.after)
		outputs[i%2].Dropped[c.why]++
		d.note(outputs, now)
		if got := d.goesOn(now); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}
