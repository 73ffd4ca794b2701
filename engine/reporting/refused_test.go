package reporting

import (
	"math/rand/v2"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestRefusedForesees: take fails before refusedUntil and no longer, for a report of no bits, in every
// state of a budget of packets, of reports or of both, and for every priority.
func TestRefusedForesees(t *testing.T) {
	r, refused, taken := rand.New(rand.NewPCG(7, 8)), 0, 0
	for i := range 300 {
		l := limit{bucket: NewBucket()}
		l.configure([]Budget{{Packets: 100, Burst: 100e6}, {Reports: 100, Burst: 100e6}, {Packets: 150, Reports: 100, Burst: 100e6}}[i%3])
		now := int64(1e9)
		for range 100 {
			now += r.Int64N(12e6)
			if r.IntN(40) == 0 {
				now += 2e9
			}
			p, opens := event.Priority(r.IntN(int(event.NumPriorities))), r.IntN(3) > 0
			want := now < l.refusedUntil(p, opens)
			if got := !l.take(p, opens, 0, now); got != want {
				t.Fatalf("priority %d, opens %v: refused %v, foreseen %v", p, opens, got, want)
			}
			if want {
				refused++
			} else {
				taken++
			}
		}
	}
	if refused < 1000 || taken < 1000 {
		t.Errorf("%d were refused, %d not", refused, taken)
	}
}

// TestBudgetOfReports: reports count one by one, however many share a packet, and a report that another rate refuses
// costs none.
func TestBudgetOfReports(t *testing.T) {
	l := limit{bucket: NewBucket()}
	l.configure(Budget{Reports: 50, Bits: 1e6, Burst: 100e6})
	sent := 0
	for now := int64(1e9); now < 11e9; now += 1e6 {
		if l.take(event.PriorityLoss, now%8e6 == 0, 1000, now) {
			sent++
		}
	}
	if sent < 500 || sent > 505 {
		t.Errorf("%d reports in ten seconds, want 50 a second and 5 at once", sent)
	}
	l.take(event.PriorityLoss, true, 1000, 20e9)
	before := l.bucket.reports.Load()
	if l.take(event.PriorityLoss, true, 1e9, 20e9) || l.bucket.reports.Load() != before {
		t.Error("a report that the bits do not allow costs one")
	}
}

// TestShedCountsAsReportWould: Shed counts refused reports as Report would, and silences lower
// priorities; a report that one of two collectors takes is not refused.
func TestShedCountsAsReportWould(t *testing.T) {
	rules := Rules{MdBits: report.MdHopLatency, MaxDelay: 1e6}
	budget := Budget{Packets: 10, Burst: 100e6, Headers: testHeaders}
	const now, p = int64(1e9), event.PriorityRefresh
	set := event.Refresh.Set() | event.Sample.Set()
	spend := func() *side {
		s := newSide(t, rules, 256, 1358, budget)
		for s.outboxes[1].limit.take(event.PriorityLoss, true, 0, now) {
			continue
		}
		return s
	}
	a, b := spend(), spend()
	for _, c := range []struct {
		collectors uint64
		want       bool
	}{{0, false}, {1, false}, {2, true}, {3, false}} {
		if got := now < a.RefusedUntil(c.collectors, p); got != c.want {
			t.Errorf("collectors %02b: refused %v", c.collectors, got)
		}
	}
	var of [mbuf.MaxBurst]*flows.Flow
	const which = uint64(1<<0 | 1<<5 | 1<<63)
	for j := range of {
		of[j] = a.flows[j]
		if which>>j&1 != 0 {
			b.Report(&Subject{Set: set, Priority: p, Collectors: 2, Flow: b.flows[j], InType: report.IPv4, Inner: make([]byte, 60)}, now)
		}
	}
	a.Shed(set, 2, p, &of, which, now)
	for name, s := range map[string]*side{"Shed": a, "Report": b} {
		c := s.count.Collectors[1]
		if s.count.Shed[event.Refresh] != 3 || s.count.Shed[event.Sample] != 3 || c.Shed[event.Refresh] != 3 || c.Shed[event.Sample] != 3 ||
			s.count.Reported[event.Refresh] != 0 || c.Reports != 0 || s.refreshes.shed != 3 || s.refreshes.sent != 0 {
			t.Errorf("%s: %+v, refreshes %+v", name, s.count, s.refreshes)
		}
		for j, f := range s.flows {
			if want := uint32(which >> j & 1); f.Cold().Shed != want {
				t.Errorf("%s, flow %d: %d shed, want %d", name, j, f.Cold().Shed, want)
			}
		}
		if l := &s.outboxes[1].limit; l.refusedUntil(event.PrioritySample, true) != now+silence+silenceSlack {
			t.Errorf("%s: a lower priority is not silent for a second", name)
		}
	}
}
