package problem

import (
	"log/slog"
	"slices"
	"testing"
	"time"
)

// TestWorse: what began after a mark, and what loses more than twice as fast as it did before, is worse; what was wrong
// in the hour before is not.
func TestWorse(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	l := New(slog.Default, nil)
	count := func(reason string, n uint64) Sign {
		return Sign{Kind: PacketsDropped, Place: []Part{{What: "reason", ID: reason}}, What: "dropped", Count: &Count{Value: n, Unit: "packets"}}
	}
	look := func(second int, signs ...Sign) { l.Look("sink", signs, at(second)) }
	down := Sign{Kind: LinkDown, Place: one("port", "host"), What: "the link is down", Told: true}
	look(0, count("steady", 0), count("past", 0), count("faster", 0), count("new", 0))
	for s := 1; s <= 100; s++ {
		look(s, count("steady", uint64(s)), count("past", uint64(min(s, 30))), count("faster", uint64(s)), count("new", 0), down)
	}
	m := l.Mark(at(100))
	worse := func(second int) (all []string) {
		for _, p := range l.Worse(m, at(second)) {
			all = append(all, p.Line())
		}
		return all
	}
	if got := worse(100); got != nil {
		t.Errorf("at once: %q", got)
	}
	n := uint64(100)
	for s := 101; s <= 120; s++ {
		n += 3
		look(s, count("steady", uint64(s)), count("past", 30+uint64(s-100)/2), count("faster", n), count("new", uint64(s-100)), down, Sign{Kind: Degraded, Place: one("collector", "x"), What: "it does not work", Evidence: Evidence{Why: "no such host"}, Since: at(101), Told: true})
	}
	want := []string{"reason faster: dropped, 160 packets", "reason new: dropped, 20 packets", "collector x: it does not work (no such host)"}
	if got := worse(120); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCountersOfNewCollectors: what a collector that a reload has made lost before it was first looked at counts, and what
// one lost that took the name of another.
func TestCountersOfNewCollectors(t *testing.T) {
	l := New(slog.Default, nil)
	look := func(second int, values map[string]uint64) {
		var signs []Sign
		for name, n := range values {
			signs = append(signs, Sign{Kind: ReportsLost, Place: one("collector", name), Subject: "collector", Count: &Count{Value: n, Unit: "reports", FromZero: true}})
		}
		l.Look("sink", signs, time.Unix(int64(second), 0))
	}
	lost := func(name string) float64 {
		for _, p := range l.answer(&filter{limit: 9}).Items {
			if p.Place[0].ID == name {
				return *p.Value
			}
		}
		return 0
	}
	look(1, map[string]uint64{"old": 7})
	look(2, map[string]uint64{"old": 7, "new": 3})
	look(3, map[string]uint64{"old": 2, "new": 3})
	if lost("old") != 2 || lost("new") != 3 {
		t.Errorf("old %v, new %v", lost("old"), lost("new"))
	}
}
