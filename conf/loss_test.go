package conf

import (
	"strings"
	"testing"
	"time"
)

// TestLossInterval: no interval at all is one that may be set, and nothing below it.
func TestLossInterval(t *testing.T) {
	for _, c := range []struct {
		interval string
		want     time.Duration
		said     string
	}{
		{"0s", 0, ""},
		{"1ns", 1, ""},
		{"-1ns", 0, "must not be negative"},
	} {
		t.Run(c.interval, func(t *testing.T) {
			src := base + "watch \"all\" {}\nevents {\n loss { interval = \"" + c.interval + "\" }\n}"
			got, d := parse("test.hcl", []byte(src), fakeMachine())
			if c.said != "" {
				if d.Err() == nil || !strings.Contains(diagText(d.Errors), c.said) {
					t.Errorf("%v, want %q", d.Err(), c.said)
				}
				return
			}
			if d.Err() != nil || got.Events.Loss.Interval != c.want {
				t.Errorf("%v, interval %v", d.Err(), got)
			}
		})
	}
}
