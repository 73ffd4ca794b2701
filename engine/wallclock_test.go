package engine

import (
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// TestTimestampsFollowTheWallClock: forwards and backwards, those of packets and those of
// flows. The flow's own time runs on: nothing ends, and no limit is over.
func TestTimestampsFollowTheWallClock(t *testing.T) {
	b := explained(t, func(r *Rules) {
		r.Report.MdBits = report.MdIngressTimestamp | report.MdEgressTimestamp
	})
	b.now = 1_700_000_000e9
	send := func(latency uint32) {
		b.network.RX = [][]byte{withINT(t, plain(1), func(_ *intgen.Source, hops []intgen.Hop) { hops[0].LatencyNs = latency })}
		b.Poll()
	}
	stamps := func(name string, want int64) {
		t.Helper()
		all := b.decoded()
		if len(all) != 1 {
			t.Fatalf("%s: %d reports", name, len(all))
		}
		if own := &all[0].Raw.Own; own.IngressTime != uint64(want) || own.EgressTime != uint64(want) {
			t.Errorf("%s: %d and %d, want %d", name, own.IngressTime, own.EgressTime, want)
		}
	}
	send(10_000)
	stamps("no step yet", b.now)
	for _, step := range []int64{3600e9, -40e9, 0} {
		b.wall = step
		b.step(100e6)
		send(900_000)
		b.now++
		send(900_000)
		stamps("hop_latency", b.now+step)
		b.step(100e6)
		send(10_000)
		send(10_000)
		stamps("and back", b.now+step)
	}
	seen := b.now
	b.wall = 5e9
	for range 40 {
		b.step(1e9)
	}
	stamps("flow_end", seen+5e9)
}
