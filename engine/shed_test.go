package engine

import (
	"testing"

	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/intgen"
)

// Events add up, per collector and in all, and packets of traffic pass.
func TestShedReportsAreCounted(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.setBudgets(reporting.Budget{Packets: 5, Burst: 200e6, Headers: 42}) })
	for round := range 40 {
		for n := range 50 {
			b.network.RX = append(b.network.RX, withINT(t, plain(round*50+n%40), nil))
		}
		b.Poll()
		b.step(50e6)
		b.sealed()
	}
	b.balance()
	c := b.Snapshot()
	e, fired := event.NewFlow, c.Detector.Fired
	if c.Shed[e] == 0 || c.Reported[e] == 0 || fired[e] != c.Reported[e]+c.Shed[e]+c.Detector.Suppressed[e][event.SuppressRate] {
		t.Errorf("%d new flows; %d reported, %d shed", fired[e], c.Reported[e], c.Shed[e])
	}
	if got := c.Collectors[0].Shed; got != c.Shed {
		t.Errorf("the only collector shed %v, all %v", got, c.Shed)
	}
	if len(b.host.TX) != 2000 {
		t.Errorf("%d packets forwarded, want 2000", len(b.host.TX))
	}
}

// An onset and a clear have a higher priority than what is between them, from the packet to the
// budget.
func TestCongestionEdgeGoesFirst(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		th := &r.Watches[0].Policy.Thresholds
		r.Watches[0].Policy.Events = event.Congestion.Set()
		th.CongestionLatency, th.CongestionQuota, th.CongestionTimeout = 50_000, 1000, 1e9
		r.setBudgets(reporting.Budget{Packets: 10, Burst: 270e6}) // 2.7 packets at once; priorities leave 0.4 and 1.2 to those before them
	})
	frame := func(latency uint32) []byte {
		return withINT(t, plain(1), func(_ *intgen.Source, hops []intgen.Hop) { hops[1].LatencyNs = latency })
	}
	b.network.RX = [][]byte{frame(10_000)}
	b.Poll()
	sent := func(latency uint32) bool {
		before := b.counters.Collectors[0].Reports
		b.network.RX = [][]byte{frame(latency)}
		b.Poll()
		b.step(2e6)
		b.sealed()
		return b.counters.Collectors[0].Reports > before
	}
	if !sent(60_000) {
		t.Error("the onset was shed")
	}
	if sent(60_000) {
		t.Error("a packet within the episode was sent where the onset of another may need the packet")
	}
	if !sent(20_000) {
		t.Error("the clear was shed")
	}
	b.balance()
}
