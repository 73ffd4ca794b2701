package event

import (
	"fmt"
	"testing"

	"intsink/flows"
)

// TestABusyInterfaceIsMarked: from the packet on that makes an interface busy, the filter of the fast path
// has this interface, and no other.
func TestABusyInterfaceIsMarked(t *testing.T) {
	f := start(t, watching(TxUtilization))
	v := f.d.view
	hop := with(one(0), func(v *values) { v.tx = 89 })
	f.observed(0, told(hop), 0)
	f.observed(ms, told(hop), 0)
	if v.Hot != 0 || v.Interfaces != (HotSet{}) {
		t.Errorf("below the threshold, hot are %b", v.Hot)
	}
	hop.tx = 90
	f.observed(ms, told(hop), TxUtilization.Set())
	var want HotSet
	want.set(v.bitOfKey([2]uint64{7<<32 | 2, 0}))
	if v.Hot != HotInterfaces || v.Interfaces != want || v.Queues != (HotSet{}) {
		t.Errorf("hot are %b, want %b and the bit of one interface", v.Hot, HotInterfaces)
	}
}

// quietly is o as the fast path gets it: Common, with the places of its values.
func quietly(o *Observation) *Observation {
	o.Common = true
	o.Info.QueueAt, o.Info.TxAt = uint8(max(o.Layout.OccupancyAt(), 0)), uint8(max(o.Layout.TxUtilization, 0))
	return o
}

// TestSweep: as long as an episode lasts, whatever the number of sweeps, its queue or interface has a bit in the
// filter of the fast path; once it is over it has none, and those of another episode keep theirs.
func TestSweep(t *testing.T) {
	type step struct {
		after int64
		calm  bool // a packet of the queue or interface itself comes, not of the other ones alone
		want  bool // the fast path takes its packets
	}
	busy := with(one(0), func(v *values) { v.tx = 95 })
	for _, c := range []struct {
		name  string
		hop   values // begins the episode
		hold  int64
		steps []step
	}{
		{"a queue that drained", one(9000), 0, []step{{second / 2, true, true}}},
		{"a queue without packets for the timeout", one(9000), 0, []step{{second - 1, false, false}, {1, false, true}}},
		{"an interface that was calm for the time to hold", busy, 5 * second, []step{{second, true, false}, {5*second - 1, true, false}, {1, true, true}}},
		{"an interface without values for ten minutes", busy, 5 * second, []step{{600 * second, false, false}, {1, false, true}}},
		{"an interface without values for the time to hold", busy, 700 * second, []step{{700 * second, false, false}, {1, false, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := watching(Congestion, TxUtilization)
			p.Thresholds.TxHold = c.hold
			f := start(t, p)
			defer f.d.Close()
			calm := quietly(told(with(one(0), func(v *values) { v.tx = 10 })))
			swept := func(stage string, hot uint64, want bool) {
				t.Helper()
				for range 2 * 50 { // 50 calls of Sweep look at every place of the tables once
					f.d.Sweep(f.now)
				}
				v := f.d.view
				quiet := !v.Queues.Has(v.bitOfKey([2]uint64{7<<32 | 2, 1})) && !v.Interfaces.Has(v.bitOfKey([2]uint64{7<<32 | 2, 0}))
				if quiet != want || v.Hot != hot {
					t.Errorf("%s: quiet %v, hot %b; want %v, %b", stage, quiet, v.Hot, want, hot)
				}
			}
			var other flows.Flow
			lasts := func() { // an episode elsewhere
				f.d.Packet(f.now, &other, false, 0, told(with(one(9000), func(v *values) { v.node, v.tx = 8, 95 })))
			}
			f.look(0, calm)
			swept("before", 0, true)
			f.look(0, told(c.hop))
			lasts()
			swept("begun", HotQueues|HotInterfaces, false)
			for n, s := range c.steps {
				if f.now += s.after; s.calm {
					f.look(0, calm)
				}
				lasts()
				swept(fmt.Sprint("step ", n), HotQueues|HotInterfaces, s.want)
			}
			f.now += second
			swept("the other queue without packets", HotInterfaces, true)
			f.now += 700 * second
			swept("nothing for long", 0, true)
		})
	}
}

// TestAnEpisodeBeginsInASweep: a sweep that has passed the place of a queue or an interface when its episode begins does
// not clear it.
func TestAnEpisodeBeginsInASweep(t *testing.T) {
	const round = 50
	for gone := range round {
		f := start(t, watching(Congestion, TxUtilization))
		calm := quietly(told(with(one(0), func(v *values) { v.tx = 10 })))
		f.look(0, calm)
		var other flows.Flow
		f.d.Packet(f.now, &other, false, 0, told(with(one(9000), func(v *values) { v.node, v.tx = 8, 95 })))
		for range gone {
			f.d.Sweep(f.now)
		}
		f.d.Packet(f.now, &other, false, 0, told(with(one(9000), func(v *values) { v.tx = 95 })))
		for n := range 2 * round {
			v := f.d.view
			if f.d.Sweep(f.now); !v.Queues.Has(v.bitOfKey([2]uint64{7<<32 | 2, 1})) || !v.Interfaces.Has(v.bitOfKey([2]uint64{7<<32 | 2})) {
				t.Fatalf("after %d calls of a sweep the episode began, %d calls later it is forgotten", gone, n+1)
			}
		}
		f.d.Close()
	}
}

// TestSampleByFlow: the upper half of a flow's hash decides for all its packets.
func TestSampleByFlow(t *testing.T) {
	p := defaults()
	p.Sample, p.SampleByFlow = 5, true
	d := New([]Policy{p}, 42)
	defer d.Close()
	l := &d.view.Policies[0]
	for hash, want := range map[uint64]bool{0: true, 1 << 32: false, 4<<32 | 0xffffffff: false, 5 << 32: true, 5<<32 | 0xffffffff: true, 6 << 32: false, 10 << 32: true} {
		for range 7 {
			if got := l.TakeSample(hash); got != want {
				t.Errorf("hash %x: %v, want %v", hash, got, want)
			}
		}
	}
}
