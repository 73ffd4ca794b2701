package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/histogram"
	"intsink/engine/watch"
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

// TestLatenciesOfAllPackets: the histograms are of a sample of all packets, whether or not these are reported: a node that
// stays slow stays in them. Unknown latencies are not.
func TestLatenciesOfAllPackets(t *testing.T) {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Events, r.Watches[0].Policy.Sample = event.HopLatency.Set(), 0
	})
	const packets = 300
	for i := range 256 + packets { // the first sample is one of 256 packets
		b.send(stamped(t, 1, 0xffffffff, 9e6)) // none is an event
		if b.step(1e6); i >= 256 {
			b.step(9e6)
		}
	}
	hops, links := b.countedLatencies()
	n := uint64(0)
	for _, c := range hops.Classes {
		n += c
	}
	if n < packets*9/10 || hops.Sum != n*9e6 {
		t.Errorf("%d latencies of %d packets in three seconds, sum %d: want one in 10 ms or so", n, packets, hops.Sum)
	}
	if links.Classes[2] != n || links.Sum != n*3000 {
		t.Errorf("links %+v, want %d", links, n)
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

// TestSamplesAreAlike: which packet is the next sample does not depend on whether packets are parsed: not where the one that is to be it
// is of INT-MX, of a flow that no watch selects, or a flow's first, either.
func TestSamplesAreAlike(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 4))
		change := func(r *Rules) {
			r.Watches[0].Policy.Events, r.Watches[0].Policy.Sample = event.NewFlow.Set(), 0
			r.Watches[0].SourcePort = []watch.PortRange{{First: 0, Last: 4007}}
		}
		short, long := newBed(t, change), newBed(t, change)
		long.ParseAll()
		samples, was := 0, uint64(0)
		for range 3000 {
			frames := make([][]byte, 1+r.IntN(20))
			for i := range frames {
				flow := 1 + r.IntN(12) + r.IntN(2)*r.IntN(40)
				if flow%4 == 1 {
					frames[i] = withINT(t, plain(flow), func(s *intgen.Source, hops []intgen.Hop) { s.Type = intgen.TypeMX })
				} else {
					frames[i] = stamped(t, flow, uint32(1+r.IntN(1e6)))
				}
			}
			for _, b := range []*bed{short, long} {
				b.network.RX = slices.Clone(frames)
				b.Poll()
				b.host.TX = nil
				b.step(1e6)
				b.sealed()
			}
			got, _ := short.countedLatencies()
			want, _ := long.countedLatencies()
			if got != want {
				t.Fatalf("seed %d: latencies of samples %+v, where all are parsed %+v", seed, got, want)
			}
			if got.Sum != was {
				samples, was = samples+1, got.Sum
			}
		}
		if samples < 200 {
			t.Errorf("%d samples: the test says little", samples)
		}
		if s := short.counters.Detector; s.Fired[event.NewFlow] == 0 {
			t.Error("no flow")
		}
	}
}
