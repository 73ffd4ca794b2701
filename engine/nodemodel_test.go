package engine

import (
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/exporters/record"
)

// A node counts latency in microseconds: its packets are compared in nanoseconds,
// and reported with what the wire carries. A reload takes the model away.
func TestNodeModelOfAWorker(t *testing.T) {
	latency := func(x uint32) []byte {
		return withINT(t, plain(1), func(_ *intgen.Source, h []intgen.Hop) { h[1].LatencyNs = x })
	}
	b := newBed(t, func(r *Rules) {
		r.NodeModels = []event.NodeModel{{Nodes: []event.NodeRange{{First: 102, Last: 102}}, LatencyUnit: 1000}}
		r.Watches[0].Policy.Events = event.HopLatency.Set()
		r.Watches[0].Policy.Thresholds.Latency = event.Deadband{Absolute: 10_000, Relative: 0.5, K: 1, N: 1}
		r.Report.Explain = true
	})
	if got := b.send(latency(20), latency(30)); len(got) != 0 {
		t.Fatalf("10 us more are reported: %+v", got[0])
	}
	got := b.send(latency(31))
	if len(got) != 1 {
		t.Fatalf("%d report packets, want 1", len(got))
	}
	r := &got[0].Reports[0]
	if !r.Has(record.KnownEventNode|record.KnownReference|record.KnownValue) || r.EventNode != 102 || r.Reference != 20_000 || r.EventValue != 31_000 {
		t.Errorf("explained %+v", r)
	}
	if x := r.Hops[1].LatencyNs; x != 31 {
		t.Errorf("the reported packet says %d, want the wire's 31", x)
	}
	next := *b.rules
	next.NodeModels = nil
	b.Reload(&next)
	b.step(200e6)
	if got := b.send(latency(31_000), latency(31_100)); len(got) != 0 {
		t.Errorf("31 us in nanoseconds are no news: %+v", got[0])
	}
	b.balance()
}
