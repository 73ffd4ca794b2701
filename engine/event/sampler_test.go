package event

import (
	"slices"
	"testing"
)

// TestSampler: slow traffic has one of 256 packets looked at, fast traffic 10,000 a
// second; and where flows take turns, each of them has its part of the looks, whatever their number.
func TestSampler(t *testing.T) {
	for _, c := range []struct {
		burst, bursts int
		every         int64 // nanoseconds between bursts
		want          int
	}{
		{64, 4000, 1e6, 1000}, {64, 4000, 1e4, 400}, {1, 256_000, 1e4, 1000}, {1, 255, 1e9, 0}, {64, 0, 1, 0},
		{1, 512_000, 1e4, 2000}, {1, 600_000, 1e3, 2300}, {1, 60_000, 2e6, 12_000},
	} {
		for _, flows := range []int{1, 2, 5, 64, 100} {
			s, looks, of := newSampler(1), 0, make([]int, flows)
			for n := range c.bursts {
				if s.Count(1e9+int64(n)*c.every, c.burst); s.Look() > 0 {
					s.end() // as Packet does
					looks++
					of[n%flows]++
				}
			}
			if looks < c.want*8/10 || looks > c.want*11/10 {
				t.Errorf("%d bursts of %d, one in %d ns: %d looks, want %d", c.bursts, c.burst, c.every, looks, c.want)
			}
			if want := looks / flows; want >= 20 && (slices.Min(of) < want/3 || slices.Max(of) > want*3) {
				t.Errorf("%d bursts of %d, one in %d ns, of %d flows in turn: looks at %v", c.bursts, c.burst, c.every, flows, of)
			}
		}
	}
}
