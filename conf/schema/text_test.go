package schema

import (
	"testing"
	"time"
)

func TestTextForms(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "60s": time.Minute, "1500ms": 1500 * time.Millisecond, "10us": 10 * time.Microsecond, "7ns": 7, "-1s": -time.Second, "1h": time.Hour,
	} {
		t.Run(want, func(t *testing.T) {
			if got := DurationText(d); got != want {
				t.Errorf("%v: %q, want %q", d, got, want)
			}
		})
	}
	for n, want := range map[int64]int64{-5: 64, 100: 128, 90: 64, 5000: 4096, 96: 64, 97: 128} {
		if got := nearestPowerOfTwo(n, 64, 4096); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}
