package engine

import (
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/histogram"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

// stamped is a packet of plain flow n whose hops, newest first, have these latencies, with
// 3 us on the link between them; a latency of all ones is unknown.
func stamped(t *testing.T, n int, latencies ...uint32) []byte {
	t.Helper()
	s := &intgen.Source{UDPPort: 5000, Bitmap: 0xfc00, MaxHops: 20}
	at := uint64(1_700_000_000_000_000_000)
	var hops []intgen.Hop
	for i, latency := range latencies {
		hops = append(hops, intgen.Hop{NodeID: uint32(i + 1), Ingress: 1, Egress: 2, LatencyNs: latency, IngressTimestamp: at, EgressTimestamp: at})
		at -= 3000
	}
	frame, err := s.Insert(plain(n), hops)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// countedLatencies are the histograms of hops and links.
func (b *bed) countedLatencies() (hops, links histogram.Histogram) {
	b.Publish()
	c := b.Snapshot()
	return c.Detector.HopLatencies, c.Detector.LinkLatencies
}

// TestLatenciesOfReportedPackets: the latencies of one reported packet a millisecond are counted,
// but no unknown ones and none of packets that are not reported.
func TestLatenciesOfReportedPackets(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Events, r.Watches[0].Policy.Sample = event.NewFlow.Set(), 0
	})
	b.send(stamped(t, 1, 1000, 1001, 40_000), stamped(t, 2, 7e6)) // the second one is left out
	b.send(stamped(t, 1, 9e6, 9e6, 9e6))                          // gives no event
	b.step(1e6)
	b.send(stamped(t, 3, 0xffffffff, 2_000_000))
	hops, links := b.countedLatencies()
	want := histogram.Histogram{Sum: 1000 + 1001 + 40_000 + 2_000_000}
	for _, ns := range []int64{1000, 1001, 40_000, 2_000_000} {
		var one histogram.Histogram
		one.Observe(ns)
		one.Sum = 0
		want.Add(&one)
	}
	if hops != want {
		t.Errorf("hops %+v, want %+v", hops, want)
	}
	want = histogram.Histogram{Sum: 3 * 3000}
	want.Classes[2] = 3
	if links != want {
		t.Errorf("links %+v, want %+v", links, want)
	}
}

// TestReportsHaveWaited: a report packet says how long it was open.
func TestReportsHaveWaited(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.Report.MaxDelay = 3e6 })
	b.network.RX = [][]byte{withINT(t, plain(1), nil)}
	b.Poll()
	b.step(2e6)
	b.network.RX = [][]byte{withINT(t, plain(2), nil)}
	b.Poll()
	b.step(5e6) // it was due in the meantime
	v := mbuf.NewVec()
	if n := b.ring.Pop(v, mbuf.MaxBurst); n != 1 {
		t.Fatalf("%d report packets, want one", n)
	}
	h, _ := report.TakeHandoff(v[0].Bytes())
	if h.Waited != 3e6>>10 || h.Delay(b.now) != 4e6+3e6>>10<<10 {
		t.Errorf("%+v, delayed by %d ns; want 3 ms open, and then 4 ms late", h, h.Delay(b.now))
	}
	b.reports.FreeBulk(v, 1)
}
