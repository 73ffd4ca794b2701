package flows

import "testing"

// TestDropLimit: the first two reasons of a flow have a limit each, whatever their numbers, all others one together.
func TestDropLimit(t *testing.T) {
	var c Cold
	for _, s := range []struct {
		reason uint8
		want   int // place in Dropped
	}{{0, 0}, {8, 1}, {3, 2}, {0, 0}, {4, 2}, {8, 1}, {254, 2}, {3, 2}} {
		if got := c.DropLimit(s.reason); got != &c.Dropped[s.want] {
			t.Errorf("reason %d has not limit %d: %+v", s.reason, s.want, c.Dropped)
		}
	}
}
