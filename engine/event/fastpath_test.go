package event

import "testing"

// TestNoEventCountsToTheSample: each packet that gives no event is one of those between two samples; the
// sample itself, and a packet that gives an event, are left to Packet and not counted.
func TestNoEventCountsToTheSample(t *testing.T) {
	p := defaults(PathChange, HopLatency)
	p.Sample = 4
	f := start(t, p)
	same, other := observe(path(2, 20_000)), observe(path(3, 20_000))
	same.Common, other.Common = true, true
	f.observed(0, same, 0) // the first of the four
	l := &f.d.view.Policies[0]
	for i, s := range []struct {
		packet *Observation
		want   bool
		left   uint32 // to the next sample, behind it
	}{
		{same, true, 2}, {other, false, 2}, {same, true, 1}, {same, false, 1}, {other, false, 1},
	} {
		if got := f.d.NoEvent(f.now+1, &f.f, s.packet.Frame, s.packet.Info); got != s.want || l.SampleLeft != s.left {
			t.Errorf("packet %d: no event %v, %d packets to the sample; want %v, %d", i, got, l.SampleLeft, s.want, s.left)
		}
	}
	if !l.TakeSample(0) || l.SampleLeft != 4 {
		t.Errorf("no sample, or %d packets to the next one", l.SampleLeft)
	}
	if !f.d.NoEvent(f.now+2, &f.f, same.Frame, same.Info) || l.SampleLeft != 3 {
		t.Errorf("behind the sample: %d packets to the next one, want 3", l.SampleLeft)
	}
}

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
