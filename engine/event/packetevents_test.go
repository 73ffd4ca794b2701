package event

import (
	"sync/atomic"
	"testing"

	"intsink/flows"
)

// TestFlags: E and M are reported when they rise, be it on a flow's first packet, and again after ten seconds
// without.
func TestFlags(t *testing.T) {
	flag := func(e, m bool) *Observation {
		o := observe(path(2, 0))
		o.Info.HopExceeded, o.Info.MTUExceeded = e, m
		return o
	}
	both := HopLimit.Set() | MTUExceeded.Set()
	f := start(t, watching(HopLimit, MTUExceeded))
	f.observed(0, flag(true, false), HopLimit.Set())
	f.observed(ms, flag(true, true), MTUExceeded.Set())
	f.observed(9*second, flag(true, true), 0)
	f.observed(10*second-1, flag(true, false), 0)
	f.observed(5*second, flag(true, true), MTUExceeded.Set())
	f.observed(10*second, flag(false, false), 0)
	f.observed(0, flag(true, true), both)

	f = start(t, watching(MTUExceeded)) // E is not watched
	f.observed(0, flag(false, false), 0)
	f.observed(ms, flag(true, true), MTUExceeded.Set())
	odd := flag(true, true) // flags count where the stack makes no sense
	odd.Info.Hops = 0
	f.observed(11*second, odd, MTUExceeded.Set())

	f = start(t, watching(NewFlow, HopLimit, MTUExceeded))
	f.observed(0, flag(true, true), both|NewFlow.Set())
}

// TestFlagsOfAFlood: of first packets that new_flow's rate withholds, the flag is withheld, too. The next packet of
// the flow has it.
func TestFlagsOfAFlood(t *testing.T) {
	for _, watched := range [][]Event{{HopLimit}, {NewFlow, HopLimit}} {
		p := watching(watched...)
		p.Thresholds.NewFlowRate = 3
		d, flood := New([]Policy{p}, 1), make([]flows.Flow, 5)
		for round, want := range []int{3, 2} {
			n := 0
			for i := range flood {
				o := observe(path(2, 0))
				o.Info.HopExceeded = true
				if d.Packet(second+int64(round), &flood[i], round == 0, 0, o).Has(HopLimit) {
					n++
				}
			}
			if n != want {
				t.Errorf("%v, packet %d of each flow: %d reports, want %d", watched, round+1, n, want)
			}
		}
		if d.Counters.Suppressed[HopLimit][SuppressRate] != 2 || d.Counters.Fired[HopLimit] != 7 {
			t.Errorf("%v: counters %+v", watched, d.Counters)
		}
	}
}

// TestLimited: one per port, kind and second.
func TestLimited(t *testing.T) {
	d := New(nil, 1)
	var sent, other atomic.Int64
	for _, c := range []struct {
		at   int64
		sent *atomic.Int64
		want Set
	}{
		{second, &sent, Leak.Set()}, {second + 1, &sent, 0}, {second + 1, &other, Leak.Set()}, {2*second - 1, &sent, 0},
		{2 * second, &sent, Leak.Set()}, {2*second + 1, &other, Leak.Set()},
	} {
		if got := d.Limited(c.at, Leak, c.sent); got != c.want {
			t.Errorf("at %d: %b, want %b", c.at, got, c.want)
		}
	}
	if d.Counters.Fired[Leak] != 6 || d.Counters.Suppressed[Leak][SuppressInterval] != 2 {
		t.Errorf("counters %+v", d.Counters)
	}
}

// TestDropped: the first, then one a second with the count, for each reason. Beyond two reasons all others have one limit.
func TestDropped(t *testing.T) {
	d := New([]Policy{watching(Drop), watching()}, 1)
	var f flows.Flow
	for _, c := range []struct {
		at     int64
		watch  uint8
		reason uint8
		set    Set
		count  uint32
	}{
		{second, 0, 0, Drop.Set(), 1}, {second + ms, 0, 0, 0, 0}, {2*second - 1, 0, 0, 0, 0}, {2 * second, 0, 0, Drop.Set(), 3}, {2*second + 1, 0, 0, 0, 0},
		{9 * second, 0, 0, Drop.Set(), 2}, {99 * second, 1, 0, 0, 0},
		{9*second + 1, 0, 8, Drop.Set(), 1}, {9*second + 2, 0, 0, 0, 0}, {9*second + 3, 0, 8, 0, 0}, {10 * second, 0, 0, Drop.Set(), 2}, {11 * second, 0, 8, Drop.Set(), 2},
		{11 * second, 0, 3, Drop.Set(), 1}, {11 * second, 0, 4, 0, 0}, {11 * second, 0, 3, 0, 0}, {12 * second, 0, 5, Drop.Set(), 3}, {12 * second, 0, 0, Drop.Set(), 1},
	} {
		f.Watch = c.watch
		if set, n := d.Dropped(c.at, &f, c.reason); set != c.set || n != c.count {
			t.Errorf("at %d ms: %b, %d, want %b, %d", c.at/ms, set, n, c.set, c.count)
		}
	}
	if cold := f.Cold(); d.Counters.Fired[Drop] != 17 || cold.Drops != 17 || cold.Suppressed != 7 || f.LastReport != flows.Tick(12*second) {
		t.Errorf("counters %+v, flow %+v", d.Counters, cold)
	}
}

// TestDropRestartsRefresh, as any report of the flow.
func TestDropRestartsRefresh(t *testing.T) {
	f := start(t, watching(Refresh, Drop))
	f.packet(0, path(2, 0), 0)
	f.now += 1500 * ms
	f.d.Dropped(f.now, &f.f, 1)
	f.packet(1590*ms, path(2, 0), 0)
	f.packet(900*ms, path(2, 0), Refresh.Set())
}
