package reporting

import (
	"testing"

	"intsink/dpdk/ring"
	"intsink/engine/event"
	"intsink/engine/wire/report"
)

// TestExchangeKeepsWhatStays: collectors that stay keep their sequence numbers and counters,
// whatever the new order; a new one starts at 0, and no mbuf is lost.
func TestExchangeKeepsWhatStays(t *testing.T) {
	s := newSide(t, Rules{MdBits: report.MdHopLatency, MaxDelay: 1e6, MaxReports: 1}, 128, 1358, Budget{})
	send := func(collectors uint64, n int) {
		for range n {
			s.Report(&Subject{Set: event.Sample.Set(), Collectors: collectors, InType: report.IPv4, Inner: make([]byte, 40)}, 1e9)
		}
		s.drain()
	}
	send(1, 3)
	send(2, 5)
	a, b, fresh := Outlet{Ring: s.rings[0]}, Outlet{Ring: s.rings[1]}, Outlet{Ring: ring.New(64)}
	for _, step := range []struct {
		name      string
		outlets   []Outlet
		sequences []uint32
	}{
		{"swapped", []Outlet{b, a}, []uint32{5, 3}},
		{"one more in front", []Outlet{fresh, b, a}, []uint32{0, 5, 3}},
		{"the first of them goes", []Outlet{b, a}, []uint32{5, 3}},
		{"one goes", []Outlet{a}, []uint32{3}},
		{"it comes back", []Outlet{b, a}, []uint32{0, 3}},
	} {
		to := make([]Collector, len(step.outlets))
		for i := range to {
			to[i] = Collector{Name: step.name, MaxPayload: 1358}
		}
		s.Adopt(s.rules, to, s.Prepare(step.outlets, to), 1e9)
		if len(s.outboxes) != len(step.sequences) || len(s.count.Collectors) != len(step.sequences) {
			t.Fatalf("%s: %d outboxes, %d collectors", step.name, len(s.outboxes), len(s.count.Collectors))
		}
		for i, want := range step.sequences {
			if got, c := s.outboxes[i].group.Sequence, &s.count.Collectors[i]; got != want || c.Packets != uint64(want) || c.Name != step.name || s.outboxes[i].counters != c {
				t.Errorf("%s, collector %d: sequence number %d, want %d; %+v", step.name, i, got, want, c)
			}
		}
	}
	s.Close(1e9)
	if s.drain(); s.pool.InUse() != 0 {
		t.Errorf("%d mbufs did not come home", s.pool.InUse())
	}
}
