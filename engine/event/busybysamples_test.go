package event

import "testing"

// loaded is a packet through interface 2 of node 7, with a load as the node writes it.
func loaded(load uint32) *Observation {
	return told(with(one(0), func(v *values) { v.tx = load }))
}

// TestBusyBySamples: with a load that is looked at by samples, two of four with 90 per cent of what the node model says is full are one
// report, and other packets none; it is armed again after five seconds at 75 or less. No packet of it is looked at by the fast path. Where
// no model tells the unit, nothing is said, whatever the value is, and the flow lacks the unit.
func TestBusyBySamples(t *testing.T) {
	p := watching(TxUtilization)
	p.Thresholds.TxAuto = true
	for _, full := range []uint32{10_000, 0} {
		f := begun(t, p)
		defer f.d.Close()
		f.d.Adopt([]Policy{p}, CompileModels([]NodeModel{{TxFull: full}}))
		look := func(after int64, load uint32, sampled bool) bool {
			f.d.Samples.due = sampled
			return f.look(after, loaded(load)).Has(TxUtilization)
		}
		for n, s := range []struct {
			after   int64
			load    uint32
			sampled bool
			want    bool
		}{
			{ms, 9900, false, false}, {ms, 9900, false, false}, {ms, 9000, true, false}, {ms, 8999, true, false}, {ms, 8999, true, false}, {ms, 8999, true, false},
			{ms, 9000, true, false}, {ms, 100, true, false}, {ms, 9000, true, true}, {second, 9900, true, false}, {ms, 7500, true, false}, {4 * second, 7500, true, false},
			{ms, 9900, true, false}, {ms, 7599, true, false}, {5 * second, 7500, false, false}, {ms, 9900, true, false}, {ms, 7599, true, false}, {5 * second, 7500, true, false},
			{ms, 9900, true, false}, {ms, 9900, true, true},
		} {
			if got := look(s.after, s.load, s.sampled); got != (s.want && full != 0) {
				t.Errorf("full %d, packet %d, %+v: reported %v", full, n, s, got)
			}
		}
		i := f.d.fabric.Interfaces.Find([2]uint64{7<<32 | 2})
		if i == nil || i.Percent != (full != 0) || i.Busy != (full != 0) {
			t.Errorf("full %d: %+v", full, i)
		}
		if busy := f.d.Busy(f.now - second); len(busy) != min(int(full), 1) {
			t.Errorf("full %d: busy are %v", full, busy)
		} else if later := f.d.Busy(f.now + 1); len(later) != 0 {
			t.Errorf("full %d: later %v", full, later)
		}
		f.d.Sweep(f.now)
		if v := f.d.View(); v.Hot != 0 || v.Policies[0].Tx != never || v.Policies[0].Fabric {
			t.Errorf("full %d: the fast path looks at loads: %+v", full, v.Policies[0])
		}
		layout := loaded(0).Layout
		if lacks := f.d.policies[0].Missing(layout, f.d.KnowsLoads())[LacksUnit] != 0; lacks != (full == 0) {
			t.Errorf("full %d: lacks its unit: %v", full, lacks)
		}
	}
}

// TestUnitThatCannotBe: an interface that was once said to send half as much again as it can is never called busy by samples, and no
// longer where it was: its node model is wrong about the full load. A little above 100 is full.
func TestUnitThatCannotBe(t *testing.T) {
	p := watching(TxUtilization)
	p.Thresholds.TxAuto = true
	f := begun(t, p)
	defer f.d.Close()
	f.d.Adopt([]Policy{p}, CompileModels([]NodeModel{{TxFull: 100}}))
	for n, s := range []struct {
		load uint32
		want bool
		busy int
	}{{102, false, 0}, {102, true, 1}, {150, false, 1}, {151, false, 0}, {102, false, 0}, {98, false, 0}, {9700, false, 0}, {9700, false, 0}} {
		f.d.Samples.due = true
		got := f.look(second, loaded(s.load)).Has(TxUtilization)
		if busy := len(f.d.Busy(0)); got != s.want || busy != s.busy {
			t.Errorf("packet %d, %d: reported %v, %d busy", n, s.load, got, busy)
		}
	}
	if i := f.d.fabric.Interfaces.Find([2]uint64{7<<32 | 2}); i == nil || !i.IsOdd() || i.Highest != 9700 {
		t.Errorf("%+v", i)
	}
}
