package ports

import (
	"testing"
	"time"
)

func TestUtilization(t *testing.T) {
	for _, c := range []struct {
		bytes uint64
		d     time.Duration
		speed int
		want  int
	}{
		{0, time.Second, 10000, 0},
		{1_250_000_000, time.Second, 10000, 100},
		{625_000_000, time.Second, 10000, 50},
		{31_250_000, 250 * time.Millisecond, 10000, 10},
		{1 << 40, time.Second, 1000, 100},
	} {
		if got := utilization(c.bytes, c.d, c.speed); got != c.want {
			t.Errorf("%d bytes in %v on %d Mbit/s: %d %%, want %d", c.bytes, c.d, c.speed, got, c.want)
		}
	}
}
