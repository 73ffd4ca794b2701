package event

import (
	"fmt"
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

// quietly is o as the fast path gets it: Common, with the places of its values.
func quietly(o *Observation) *Observation {
	o.Common = true
	o.Info.QueueAt, o.Info.TxAt = uint8(max(o.Layout.Queue, 0)), uint8(max(o.Layout.TxUtilization, 0))
	return o
}

// TestAnEpisodeIsOfThoseWhoWatchIt: while an interface and its queue are in an episode, packets that cross them go
// through Packet where they carry the value and their watch watches it, and nowhere else.
func TestAnEpisodeIsOfThoseWhoWatchIt(t *testing.T) {
	all, tx, occupancy, latency := watching(Congestion, TxUtilization), watching(TxUtilization), watching(Congestion), watching(Congestion)
	latency.Thresholds.CongestionRaise, latency.Thresholds.CongestionLatency = 0, 500_000
	calm := values{node: 7, ports: 0x10002, latency: 1000, queue: 0xff<<24 | 5, tx: 10} // queue 255 is also that of packets that tell none
	untold := observe([]hop{{7, 0x10002, 1000}})
	for _, c := range []struct {
		name        string
		queue, tx   bool // which of both is in an episode
		watch       Policy
		packet      *Observation
		want        bool
		wantFilters [2]bool
	}{
		{"no episode", false, false, all, told(calm), true, [2]bool{}},
		{"a busy interface", false, true, tx, told(calm), false, [2]bool{false, true}},
		{"a busy interface, packets without utilization", false, true, tx, untold, true, [2]bool{}},
		{"a busy interface, a watch of queues", false, true, occupancy, told(calm), true, [2]bool{}},
		{"a full queue", true, false, occupancy, told(calm), false, [2]bool{true, false}},
		{"a full queue, packets without occupancy", true, false, occupancy, untold, true, [2]bool{}},
		{"a full queue, packets with a latency that is watched", true, false, latency, untold, false, [2]bool{true, false}},
		{"a full queue, a watch of interfaces", true, false, tx, told(calm), true, [2]bool{}},
		{"both", true, true, all, told(calm), false, [2]bool{true, true}},
		{"both, a watch of interfaces, packets without utilization", true, true, tx, untold, true, [2]bool{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New([]Policy{all, c.watch}, 42)
			defer d.Close()
			crafted, f, other := calm, flows.Flow{Watch: 1}, flows.Flow{}
			if c.queue {
				crafted.queue |= 9000
			}
			if c.tx {
				crafted.tx = 95
			}
			o := quietly(c.packet)
			d.Packet(second, &f, true, 1, o)
			d.Packet(second, &other, false, 0, told(crafted))
			queues, interfaces := d.view.Filters(&d.view.Policies[1], o.Info.QueueAt > 0, o.Info.TxAt > 0)
			if got := d.NoEvent(second+ms, &f, o.Frame, o.Info); got != c.want || [2]bool{queues, interfaces} != c.wantFilters {
				t.Errorf("no event %v, want %v; by the filters of queues %v, of interfaces %v; want %v", got, c.want, queues, interfaces, c.wantFilters)
			}
			d.Packet(second+ms, &other, false, 0, told(with(one(9000), func(v *values) { v.node, v.tx = 8, 95 })))
			if got := d.NoEvent(second+ms, &f, o.Frame, o.Info); got != c.want {
				t.Errorf("no event %v, want %v, while another queue and interface is in an episode", got, c.want)
			}
		})
	}
}

// TestSweep: as long as an episode lasts, whatever the number of sweeps, packets of its queue or interface go through
// Packet; once it is over they take the fast path again, and those of another episode do not.
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
				if got := f.d.NoEvent(f.now, &f.f, calm.Frame, calm.Info); got != want || f.d.view.Hot != hot {
					t.Errorf("%s: no event %v, hot %b; want %v, %b", stage, got, f.d.view.Hot, want, hot)
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

// TestNoEventWithoutRefresh: a flow that nobody asks to refresh stays on the fast path when the time of its refresh
// has come.
func TestNoEventWithoutRefresh(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event
		after  int64
		want   bool
	}{
		{"before its time", []Event{PathChange, Refresh}, second, true},
		{"at its time", []Event{PathChange, Refresh}, 3 * second, false},
		{"at its time, without refresh", []Event{PathChange}, 3 * second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, defaults(c.events...))
			defer f.d.Close()
			o := quietly(observe(path(2, 20_000)))
			f.observed(0, o, 0)
			if got := f.d.NoEvent(f.now+c.after, &f.f, o.Frame, o.Info); got != c.want {
				t.Errorf("no event %v, want %v", got, c.want)
			}
		})
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
