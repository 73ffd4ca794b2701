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
	down := Sign{Kind: LinkDown, Place: At("port", "host"), What: "the link is down", Told: true}
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
		look(s, count("steady", uint64(s)), count("past", 30+uint64(s-100)/2), count("faster", n), count("new", uint64(s-100)), down, Sign{Kind: Degraded, Place: At("collector", "x"), What: "it does not work", Evidence: Evidence{Why: "no such host"}, Since: at(101), Told: true})
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
			signs = append(signs, Sign{Kind: ReportsLost, Place: At("collector", name), Subject: "collector", Count: &Count{Value: n, Unit: "reports", FromZero: true}})
		}
		l.Look("sink", signs, time.Unix(int64(second), 0))
	}
	lost := func(name string) float64 {
		for _, p := range l.answer(&Filter{limit: 9}).Items {
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

// TestTrialsEndByRates: one packet, and what the network alone does, however much, ends no trial; a change that damages what was
// sound does, and so does a share of reports that are lost.
func TestTrialsEndByRates(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		kind          Kind
		reason        string
		lost, through uint64 // each second of the trial; 1000 came through before
		once          bool   // lost in one second alone
		ends          bool
	}{
		"one unsound packet":                   {INTDamaged, "shim", 1, 1000, true, false},
		"as many unsound ones as others":       {INTDamaged, "shim", 1000, 1000, false, false},
		"a flood of them":                      {INTDamaged, "shim", 1_000_000, 1000, false, false},
		"what was sound is unsound":            {INTDamaged, "shim", 1000, 0, false, true},
		"half of it":                           {INTDamaged, "shim", 600, 400, false, true},
		"the network is silent, and one comes": {INTDamaged, "shim", 1, 0, false, false},
		"dropped, as it is unsound":            {PacketsDropped, "malformed", 1000, 1000, false, false},
		"dropped by the change":                {PacketsDropped, "malformed", 1000, 0, false, true},
		"one packet too many":                  {PacketsDropped, "tx_full", 1, 1000, true, false},
		"five, of few":                         {PacketsDropped, "tx_full", 5, 100, true, false},
		"one in a hundred":                     {PacketsDropped, "tx_full", 10, 1000, false, true},
		"too long for the output":              {PacketsDropped, "tx_too_long", 500, 1000, false, false},
		"one report":                           {ReportsLost, "timeout", 1, 1000, true, false},
		"all reports":                          {CollectorAway, "refused", 1000, 0, false, true},
		"a wrong checksum":                     {ChecksumBad, "", 1, 1000, true, true},
		"a flood of flows":                     {FlowsRefused, "", 1_000_000, 1000, false, false},
		"clocks of nodes":                      {ClockWrong, "", 1000, 1000, false, false},
		"INT of hosts":                         {INTLeaked, "", 1000, 1000, false, false},
	} {
		for _, program := range []bool{false, true} { // whose process is another one
			lost, through := uint64(0), uint64(0)
			l := New(slog.Default, nil)
			look := func(second int) {
				l.Look("sink", []Sign{{Kind: c.kind, Place: []Part{{What: "link", ID: "edge"}, {What: "reason", ID: c.reason}}, Count: &Count{Value: lost, Unit: "packets", Through: &through}}}, start.Add(time.Duration(second)*time.Second))
			}
			for s := range 300 {
				through += 1000
				look(s)
			}
			mark := l.Mark(start.Add(300 * time.Second))
			if program {
				paces := l.Paces()
				l, lost, through = New(slog.Default, nil), 0, 0
				look(300)
				mark = l.Mark(start.Add(300 * time.Second)).Before(paces)
			}
			ends := false
			for s := 301; s < 330; s++ {
				if !c.once || s == 310 {
					lost += c.lost
				}
				through += c.through
				look(s)
				for _, p := range l.Worse(mark, start.Add(time.Duration(s)*time.Second)) {
					ends = ends || p.ByChange()
				}
			}
			if ends != c.ends {
				t.Errorf("%s (another program: %v): the trial ends %v", name, program, ends)
			}
		}
	}
}
