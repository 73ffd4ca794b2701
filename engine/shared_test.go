package engine

import (
	"slices"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// sharedBeds are two workers of one sink, which get packets of different flows.
func sharedBeds(t *testing.T, change func(*Rules)) (beds [2]*bed) {
	s := NewShared(1, 9)
	for w := range beds {
		beds[w] = newSharedBed(t, s, func(r *Rules) {
			r.Report.Explain, r.Report.MaxReports, r.Report.Fragment, r.DropInterval = true, 1, 256, 1e9
			th := &r.Watches[0].Policy.Thresholds
			th.CongestionRaise, th.CongestionClear, th.CongestionQuota, th.CongestionTimeout = 8000, 4000, 3, 1e9
			th.TxRaise, th.TxClear, th.TxHold = 90, 75, 0
			r.Watches[0].Policy.Events = event.Congestion.Set() | event.TxUtilization.Set() | event.HopLatency.Set() | event.Malformed.Set() | event.Leak.Set() | event.UnknownDomain.Set() | event.Drop.Set()
			if change != nil {
				change(r)
			}
		})
	}
	return beds
}

// queue is a packet of flow n that found so much in the queue of node 102, and tx percent.
func queue(t *testing.T, n int, occupancy, tx uint32) [][]byte {
	return [][]byte{withINT(t, plain(n), func(_ *intgen.Source, hops []intgen.Hop) {
		hops[1].QueueID, hops[1].QueueOccupancy, hops[1].TxUtilization = 3, occupancy, tx
	})}
}

// TestWorkersShareEpisodes: of a queue that packets of two workers cross there is one onset,
// one quota and one end, which the worker reports that sees it: also where its packets were
// passed over before, and the other one has none any more.
func TestWorkersShareEpisodes(t *testing.T) {
	b := sharedBeds(t, nil)
	step := func(w int, ns int64, occupancy, tx uint32, want ...string) {
		t.Helper()
		b[0].now += ns
		b[1].now = b[0].now
		b[w].expect(queue(t, w, occupancy, tx), nil, want...)
		b[w].step(0)
	}
	for range 10 { // known, and passed over
		step(0, 1e6, 0, 10)
		step(1, 1e6, 0, 10)
	}
	step(0, 1e6, 9000, 10, "congestion Q F")
	step(1, 1e6, 9000, 10, "congestion Q F")
	step(1, 1e6, 9000, 10)
	step(0, 1e6, 9000, 10, "congestion Q F")
	for range 5 {
		step(0, 600e6, 9000, 10)
	}
	step(1, 1e6, 10, 10, "congestion Q F")
	step(0, 1e6, 10, 10)
	step(0, 1e6, 10, 95, "tx_utilization F")
	step(1, 1e6, 10, 95)
	step(1, 1e6, 10, 10)
	step(1, 1e6, 10, 95) // a second is not over
	step(0, 1e9, 10, 95, "tx_utilization F")
	var fired [event.NumEvents]uint64
	for _, b := range b {
		b.balance()
		for e, n := range b.Snapshot().Detector.Fired {
			fired[e] += n
		}
	}
	if fired[event.Congestion] != 1 || fired[event.TxUtilization] != 2 {
		t.Errorf("%d episodes of congestion, want 1, and %d of tx_utilization, want 2", fired[event.Congestion], fired[event.TxUtilization])
	}
}

// TestWorkersShareLimitsOfPorts: one report per port, kind and second, whichever worker has
// the packet.
func TestWorkersShareLimitsOfPorts(t *testing.T) {
	b := sharedBeds(t, func(r *Rules) { r.DropMalformed = true })
	unsound := withINT(t, plain(1), nil)
	unsound[42] = 0xf0 // a type that there is none of
	leak := withINT(t, plain(2), nil)
	foreign := withINT(t, plain(3), func(s *intgen.Source, _ []intgen.Hop) { s.DomainID, s.DSInstruction = 9, 0x8000 })
	for _, c := range []struct {
		name          string
		network, host []byte
		first, later  []string
	}{
		{"malformed", unsound, nil, []string{"drop+malformed D drops 1 acl_deny"}, []string{"drop+malformed D drops 4 acl_deny"}},
		{"leak", nil, leak, []string{"leak F"}, []string{"leak F"}},
		{"unknown_domain", foreign, nil, []string{"unknown_domain F"}, []string{"unknown_domain F"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range [][]string{c.first, nil, nil, nil, c.later, nil} {
				if i == 4 {
					b[0].now += 1e9
				}
				b[0].now += 1e6
				b[1].now = b[0].now
				w := b[i%2]
				if c.network != nil {
					w.network.RX = [][]byte{slices.Clone(c.network)}
				}
				if c.host != nil {
					w.host.RX = [][]byte{slices.Clone(c.host)}
				}
				w.Poll()
				if got := w.why(); !slices.Equal(got, want) {
					t.Errorf("packet %d: reports %q, want %q", i, got, want)
				}
			}
		})
	}
}
