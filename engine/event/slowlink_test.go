package event

import (
	"slices"
	"testing"

	"intsink/engine/clock"
)

// overLink is a packet that takes so long from node 101 to node 102.
func overLink(ns uint32) *Observation {
	return told(values{node: 102, ports: 0x10002, latency: 100, in: uint64(9_000_000 + ns)}, values{node: 101, ports: 0x10002, latency: 100, out: 9_000_000})
}

// sampled has f look at a packet of so many ns, which is a sample.
func (f *feed) sampled(after int64, ns uint32) Set {
	f.d.Samples.due = true
	return f.look(after, overLink(ns))
}

func watchingLinks() Policy {
	p := watching(LinkLatency, Congestion)
	byUsual(&p.Thresholds)
	p.Thresholds.LinkAuto = true
	return p
}

// TestSlowLink: a link is reported once it is slow for a second and a half, where it is twice as slow as that, at most once a
// second, and where it was as usual for a second; less than the floor, a spike and packets that are no samples say nothing.
func TestSlowLink(t *testing.T) {
	type run struct {
		packets int // 50 ms apart
		ns      uint32
		reports []int // number of the packets, from 0, that are
	}
	const usual, slow = 5_000, 400_000
	for _, c := range []struct {
		name string
		runs []run
	}{
		{"begin and end", []run{{100, slow, []int{30}}, {60, usual, []int{22}}, {100, usual, nil}}},
		{"twice as slow", []run{{50, slow, []int{30}}, {50, 2*slow - 1, nil}, {50, 2 * slow, []int{0}}, {50, 3 * slow, nil}, {50, 4 * slow, []int{0}}}},
		{"at most one a second", []run{{31, slow, []int{30}}, {50, 2 * slow, []int{19}}}},
		{"below the floor", []run{{100, 99_000, nil}}},
		{"less than eight times", []run{{100, 40_000, nil}}},
		{"1.4 s", []run{{28, slow, nil}, {100, usual, nil}, {28, slow, nil}}},
		{"spikes", slices.Repeat([]run{{1, slow, nil}, {9, usual, nil}}, 20)},
		{"one that comes and goes is told once", append([]run{{40, slow, []int{30}}, {40, usual, []int{22}}, {40, slow, []int{30}}},
			slices.Repeat([]run{{40, usual, nil}, {40, slow, nil}}, 5)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := begun(t, watchingLinks())
			defer f.d.Close()
			for range 3 * 60 * 20 {
				if f.sampled(50*ms, usual).Has(LinkLatency) {
					t.Fatal("reported while it is learned")
				}
			}
			for i, r := range c.runs {
				var got []int
				for n := range r.packets {
					if f.sampled(50*ms, r.ns).Has(LinkLatency) {
						if got = append(got, n); f.d.Trigger.NodeID != 101 || f.d.Trigger.Value != r.ns {
							t.Errorf("run %d: %+v", i, f.d.Trigger)
						}
					}
				}
				if !slices.Equal(got, r.reports) {
					t.Errorf("run %d, %d ns: packets %v are reported, want %v", i, r.ns, got, r.reports)
				}
			}
			for range 100 {
				f.d.Samples.due = false
				if f.look(50*ms, overLink(slow)).Has(LinkLatency) {
					t.Fatal("a packet that is no sample is reported")
				}
			}
		})
	}
}

// TestSlowLinkOfAWrongClock: nothing is reported of a segment whose clock is known to be wrong, nor where nobody knows what is usual.
func TestSlowLinkOfAWrongClock(t *testing.T) {
	f := begun(t, watchingLinks())
	defer f.d.Close()
	for range 50 {
		if f.sampled(50*ms, 400_000).Has(LinkLatency) {
			t.Error("reported, though nobody knows what is usual")
		}
	}
	f = begun(t, watchingLinks())
	defer f.d.Close()
	for range 3 * 60 * 20 {
		f.sampled(50*ms, 5000)
	}
	wrong := []clock.Crossing{{From: 9, To: 102, Ns: 5e6}, {From: 8, To: 102, Ns: 5e6}, {From: 102, To: 7, Ns: -5e6}}
	for range 4 {
		f.d.shared.clocks.See(f.now, wrong)
	}
	if all, _ := f.d.shared.clocks.Judge(f.now); len(all) != 1 {
		t.Fatalf("judged %v", all)
	}
	for range 100 {
		if f.sampled(50*ms, 5_000_000).Has(LinkLatency) {
			t.Fatal("reported, though the clock is wrong")
		}
	}
}

// TestSlowLinkAsksForNothing: links by what is usual take what INT has, cost no packet but samples, and are missed nowhere.
func TestSlowLinkAsksForNothing(t *testing.T) {
	f := begun(t, watchingLinks())
	defer f.d.Close()
	if v := f.d.View(); v.Policies[0].Link || v.more != 0 {
		t.Errorf("link %v, more %d: the fast path looks for links", v.Policies[0].Link, v.more)
	}
	for v, n := range f.d.Counters.Lacking {
		if n != 0 && Lacking(v) != LacksQueue {
			t.Errorf("%d flows lack %v", n, Lacking(v))
		}
	}
}
