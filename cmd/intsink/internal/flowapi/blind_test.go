package flowapi

import (
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
	"intsink/engine/series"
)

// TestBlind: what the sink did not see of the time is said, also where the network was normal in what it saw.
func TestBlind(t *testing.T) {
	begin := time.Date(2026, 11, 26, 9, 20, 0, 0, time.UTC)
	now := begin.Add(2 * time.Minute)
	for name, c := range map[string]struct {
		began, stopped int // seconds
		missed         float64
		ago            time.Duration
		want           string
	}{
		"all":                  {ago: 100 * time.Second},
		"began later":          {began: 40, ago: 100 * time.Second, want: "nothing is known of before 09:20:41"},
		"stood still":          {stopped: 15, ago: 100 * time.Second, want: "the sink did not look for 15 s"},
		"missed packets":       {missed: 94319, ago: 100 * time.Second, want: "the sink itself missed 94319 packets"},
		"stood still and more": {stopped: 15, missed: 9, ago: 100 * time.Second, want: "the sink did not look for 15 s; the sink itself missed 9 packets"},
		"stood still before":   {stopped: 15, ago: 20 * time.Second},
		"nobody looks":         {began: 1000, ago: 100 * time.Second},
	} {
		in := &API{Counts: series.NewCounts(), Problems: func() []*problem.Problem {
			if c.missed == 0 {
				return nil
			}
			return []*problem.Problem{{Kind: problem.PacketsMissed, Since: begin, Value: &c.missed, Unit: "packets"}}
		}}
		for s := c.began; s <= 120; s++ {
			if s <= 60 || s > 60+c.stopped {
				in.Counts.Look(begin.Add(time.Duration(s)*time.Second).UnixNano(), "reports", uint64(s))
			}
		}
		latency := uint32(3000)
		x := &Incident{From: now.Add(-c.ago), To: now, Places: []PlaceItem{{Place: "node 7", WorstNs: &latency, UsualNs: &latency, Steps: 9}}, Coverage: CoverageItem{Flows: 1, Places: 1, Told: 1}}
		in.addBlind(x, now)
		x.judge()
		title := "network normal: look at the hosts"
		if c.want != "" {
			title = "network normal in what the sink saw: look at the hosts"
		}
		if got := x.Coverage.Unseen(); got != c.want || x.Verdict != verdict.NetworkNormal || x.Title != title {
			t.Errorf("%s: %q, %q, want %q", name, got, x.Title, c.want)
		}
		in.Counts.Close()
	}
}
