package plan

import (
	"slices"
	"testing"

	"intsink/engine"
	"intsink/engine/event"
)

// TestTimelineLengthensItsSteps: whatever the capture's length, the steps are as many as
// fit the page, of a round time, and nothing that was counted is lost.
func TestTimelineLengthensItsSteps(t *testing.T) {
	const ms, s = int64(1e6), int64(1e9)
	for _, c := range []struct {
		name        string
		length      int64
		step, count int64
	}{
		{"one packet", 0, ms, 1},
		{"149 ms", 149 * ms, ms, 150},
		{"150 ms", 150 * ms, 2 * ms, 76},
		{"300 ms", 300 * ms, 10 * ms, 31},
		{"10 s", 10 * s, 100 * ms, 101},
		{"an hour", 3600 * s, 100 * s, 37},
		{"292 years", 1<<63 - 1 - 1e18, 100_000_000 * s, 83},
	} {
		t.Run(c.name, func(t *testing.T) {
			const start = int64(1e18)
			l, counters := newTimeline(start), engine.Counters{}
			for i := range int64(1001) {
				counters.Reported[event.Refresh] += uint64(i)
				l.note(start+c.length/1000*i+c.length%1000*i/1000, &counters)
			}
			got := l.of(event.Refresh)
			if l.step != c.step || int64(len(got)) != c.count || sum(got) != 500_500 {
				t.Errorf("%d steps of %d ns, %d reports; want %d of %d, 500500", len(got), l.step, sum(got), c.count, c.step)
			}
		})
	}
	l, counters := newTimeline(1000), engine.Counters{}
	for i, at := range []int64{0, 75, 149, 150, 225, 299} { // ms
		counters.Reported[event.Loss] += uint64(i) + 1
		l.note(1000+at*ms, &counters)
	}
	got := l.of(event.Loss)
	if l.step != 2*ms || got[0] != 1 || got[37] != 2 || got[74] != 3 || got[75] != 4 || got[112] != 5 || got[149] != 6 {
		t.Errorf("steps of %d: %v", l.step, got)
	}
}

// TestChart: the top of the plot is the most of both series, equal steps are one line.
func TestChart(t *testing.T) {
	c := newChart("loss", []uint64{0, 4, 4, 0}, []uint64{1, 8, 0, 0}, 500e6)
	want := chart{
		Now: 8, Was: 9, Change: "-11%", Most: 8,
		Bars: "M52 106H52V106H193.5V58H476.5V106H618V106Z",
		Line: "M52 106H52V94H193.5V10H335V106H618V106",
	}
	if c.Now != want.Now || c.Was != want.Was || c.Change != want.Change || c.Most != want.Most || c.Bars != want.Bars || c.Line != want.Line {
		t.Errorf("%+v, want %+v", c, want)
	}
	if len(c.Steps) != 3 || c.Steps[1] != (chartStep{"193.5", "141.5", "500 ms to 1 s: 4, was 8"}) {
		t.Errorf("steps %+v", c.Steps)
	}
	if labels := func() (all []string) {
		for _, x := range c.Ticks {
			all = append(all, x.Label)
		}
		return all
	}(); !slices.Equal(labels, []string{"0 s", "500 ms", "1 s", "1.5 s", "2 s"}) {
		t.Errorf("ticks %v", labels)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 s", 20e6: "20 ms", 1e9: "1 s", 2500e6: "2.5 s", 119e9: "119 s", 120e9: "2m", 3600e9: "1h0m", 3725e9: "1h2m5s"} {
		if got := seconds(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
}
