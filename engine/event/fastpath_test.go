package event

import (
	"testing"

	"intsink/flows"
)

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

// TestNoEventLeavesToPacket: a packet that is as its flow's last one is left to Packet, and nothing is changed, where
// its watch asks for links or PTP latencies, where it reaches a threshold of queues, and where it is a sample.
func TestNoEventLeavesToPacket(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(l *FastPolicy)
		want   bool
	}{
		{"nothing", func(*FastPolicy) {}, true},
		{"links", func(l *FastPolicy) { l.Link = true }, false},
		{"PTP", func(l *FastPolicy) { l.PTP = true }, false},
		{"queues below all thresholds", func(l *FastPolicy) { l.Fabric, l.Latency = true, 20_001 }, true},
		{"a queue at its threshold", func(l *FastPolicy) { l.Fabric, l.Latency = true, 20_000 }, false},
		{"the last before a sample", func(l *FastPolicy) { l.SampleEvery, l.SampleLeft = 9, 2 }, true},
		{"a sample", func(l *FastPolicy) { l.SampleEvery, l.SampleLeft = 9, 1 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, defaults(PathChange, HopLatency))
			defer f.d.Close()
			o := observe(path(2, 20_000))
			o.Common = true
			f.observed(0, o, 0)
			l := &f.d.view.Policies[0]
			l.Raise, l.Latency, l.Tx = never, never, never
			c.change(l)
			left, was := l.SampleLeft, f.f
			got := f.d.NoEvent(f.now+second, &f.f, o.Frame, o.Info)
			if c.want {
				left, was.PathSeen = left-1, flows.Tick(f.now+second)
			}
			if got != c.want || l.SampleLeft != left || f.f != was {
				t.Errorf("no event %v, %d packets to the sample; want %v, %d; flow\n%+v, want\n%+v", got, l.SampleLeft, c.want, left, f.f, was)
			}
		})
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
