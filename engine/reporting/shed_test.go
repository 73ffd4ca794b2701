package reporting

import (
	"fmt"
	"testing"

	"intsink/engine/event"
)

// TestStretchByShare: once a second the factor grows by a quarter of the share of refreshes that
// is shed and 6 percent points, up to fifteen, or falls by a sixteenth of its part above one.
func TestStretchByShare(t *testing.T) {
	for _, c := range []struct{ sent, shed, factor, want uint32 }{
		{0, 0, event.NoStretch, event.NoStretch},
		{100, 0, event.NoStretch, event.NoStretch},
		{0, 1, 100, 131},
		{1, 1, 100, 118},
		{99, 1, 100, 106},
		{30, 10, 800, 856},
		{0, 1, 1490, maxStretch},
		{0, 1, maxStretch, maxStretch},
		{1, 0, 900, 850},
		{1, 0, 101, 100},
		{0, 0, 116, 115},
	} {
		t.Run(fmt.Sprintf("%d sent, %d shed, %d %%", c.sent, c.shed, c.factor), func(t *testing.T) {
			s := stretch{sent: c.sent, shed: c.shed, next: 1e9}
			if got := s.step(c.factor, 1e9-1); got != c.factor || s.sent != c.sent {
				t.Errorf("%d before the second is over", got)
			}
			if got := s.step(c.factor, 1e9); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
			if s != (stretch{next: 2e9}) {
				t.Errorf("left %+v", s)
			}
		})
	}
}
