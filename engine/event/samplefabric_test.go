package event

import "testing"

// TestSampleFabric: slow traffic has one of 256 packets looked at, fast traffic 10,000 a
// second.
func TestSampleFabric(t *testing.T) {
	for _, c := range []struct {
		burst, bursts int
		every         int64 // nanoseconds between bursts
		want          int
	}{
		{64, 4000, 1e6, 1000}, {64, 4000, 1e4, 400}, {1, 256_000, 1e4, 1000}, {1, 255, 1e9, 0}, {64, 0, 1, 0},
	} {
		d, looks := New([]Policy{{}}, 1), 0
		for n := range c.bursts {
			if d.SampleFabric(1e9+int64(n)*c.every, c.burst); d.FabricSampleDue() {
				d.fabricSampleDue = false // as Packet does
				looks++
			}
		}
		if looks < c.want*99/100 || looks > c.want {
			t.Errorf("%d bursts of %d, one in %d ns: %d looks, want %d", c.bursts, c.burst, c.every, looks, c.want)
		}
	}
}
