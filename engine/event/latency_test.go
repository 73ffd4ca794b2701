package event

import (
	"testing"

	"intsink/engine/histogram"
	"intsink/flows"
)

// TestANewHopStartsAnew: a node that takes the place of another among the sixteen of a flow
// takes over neither what was pending there nor when it was last reported.
func TestANewHopStartsAnew(t *testing.T) {
	p := defaults(HopLatency)
	p.Thresholds.Latency = Deadband{Absolute: 10_000, K: 2, N: 4, Interval: second}
	route := func(node, latency uint32) *Observation {
		return observe([]hop{{node, 0x10002, latency}, {900, 0x10002, 1000}})
	}
	fill := func(t *testing.T) *feed {
		f := start(t, p)
		f.look(0, route(1, 1000))
		for n := uint32(2); n < flows.MaxHops; n++ { // 900 has a place, too
			f.look(ms, route(n, 1000))
		}
		if f.f.NumHops != flows.MaxHops {
			t.Fatalf("%d hops", f.f.NumHops)
		}
		return f
	}
	t.Run("window", func(t *testing.T) {
		f := fill(t)
		defer f.d.Close()
		f.look(ms, route(1, 90_000)) // pending: one of two
		f.look(ms, route(50, 1000))  // in place of node 1
		if set := f.look(ms, route(50, 90_000)); set != 0 {
			t.Errorf("one value of a new node: %b", set)
		}
		if set := f.look(ms, route(50, 90_000)); !set.Has(HopLatency) {
			t.Errorf("two values: %b", set)
		}
	})
	t.Run("interval", func(t *testing.T) {
		f := fill(t)
		defer f.d.Close()
		f.look(ms, route(1, 90_000))
		if set := f.look(ms, route(1, 90_000)); !set.Has(HopLatency) {
			t.Fatalf("node 1: %b", set)
		}
		f.look(ms, route(50, 1000))
		f.look(ms, route(50, 90_000))
		if set := f.look(ms, route(50, 90_000)); !set.Has(HopLatency) {
			t.Errorf("the new node waits for the interval of the old one: %b", set)
		}
	})
}

// TestCountLatencies: the latency of each hop counts, and the time from each egress to the next ingress; what is
// unknown or negative does not.
func TestCountLatencies(t *testing.T) {
	const late = 1 << 40
	hops := []values{ // newest first
		{node: 4, ports: 0x10002, latency: 400, in: late + 999, out: late + 3000},
		{node: 3, ports: 0x10002, latency: 30_000, in: late + 900, out: late + 1000},
		{node: 2, ports: 0x10002, latency: unknown32, in: late + 500, out: late + 650},
		{node: 1, ports: 0x10002, latency: 1, in: unknown64, out: late + 400},
	}
	var hopLatencies, linkLatencies histogram.Histogram
	for _, ns := range []int64{400, 30_000, 1} {
		hopLatencies.Observe(ns)
	}
	for _, ns := range []int64{250, 100} { // that from 3 to 4 is -1
		linkLatencies.Observe(ns)
	}
	d := New([]Policy{defaults()}, 42)
	defer d.Close()
	if d.countLatencies(late, told(hops...)); d.Counters.HopLatencies != hopLatencies || d.Counters.LinkLatencies != linkLatencies {
		t.Errorf("hops %+v, links %+v; want %+v, %+v", d.Counters.HopLatencies, d.Counters.LinkLatencies, hopLatencies, linkLatencies)
	}
}
