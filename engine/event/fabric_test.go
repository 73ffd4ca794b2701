package event

import (
	"encoding/binary"
	"slices"
	"testing"

	"intsink/engine/clock"
	"intsink/engine/usual"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// values are what a hop says besides its latency; the zero value is calm.
type values struct {
	node, ports, latency, queue, tx uint32
	in, out                         uint64
}

const full = inthdr.BitNodeID | inthdr.BitLevel1Interfaces | inthdr.BitHopLatency | inthdr.BitQueue |
	inthdr.BitIngressTimestamp | inthdr.BitEgressTimestamp | inthdr.BitTxUtilization

// told is a packet of hops, the newest first.
func told(hops ...values) *Observation {
	var b []byte
	for _, v := range hops {
		for _, word := range []uint32{v.node, v.ports, v.latency, v.queue} {
			b = binary.BigEndian.AppendUint32(b, word)
		}
		b = binary.BigEndian.AppendUint64(b, v.in)
		b = binary.BigEndian.AppendUint64(b, v.out)
		b = binary.BigEndian.AppendUint32(b, v.tx)
	}
	layout := inthdr.LayoutOf(full, inthdr.Format2)
	return &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
		Type: inthdr.MD, Bitmap: full, HopLen: uint16(layout.HopLen), Hops: uint16(len(hops)), StackLen: uint16(len(b)),
	}}
}

// one is a packet of one hop whose egress queue holds so much.
func one(occupancy uint32) values { return values{node: 7, ports: 0x10002, queue: 1<<24 | occupancy} }

func with(v values, change func(*values)) values {
	change(&v)
	return v
}

// watching are the defaults with thresholds.
func watching(events ...Event) Policy {
	p := defaults(events...)
	t := &p.Thresholds
	t.CongestionRaise, t.CongestionClear, t.CongestionQuota, t.CongestionTimeout = 8000, 4000, 3, second
	t.TxRaise, t.TxClear, t.TxHold = 90, 75, 5*second
	t.LinkLatency = Deadband{Absolute: 10_000, Relative: 0.5, K: 2, N: 4, Interval: second}
	t.EndToEnd = Deadband{Absolute: 50_000, Relative: 0.5, K: 2, N: 4, Interval: 100 * ms}
	t.HopLimitRearm, t.MTURearm = 10*second, 10*second
	t.LossWindow, t.LossTimeout, t.LossInterval, t.DropInterval = 1024, 200*ms, second, second
	return p
}

// step is one packet of an established flow and whether it is reported.
type step struct {
	after int64
	hop   values
	want  bool
}

// begun returns a flow that has had its first packet, by a node without other flows.
func begun(t *testing.T, p Policy) *feed {
	f := start(t, p)
	f.observed(0, told(values{node: 1, ports: 0x10002, queue: 1}), 0)
	return f
}

func (f *feed) steps(e Event, steps []step) {
	f.t.Helper()
	for i, s := range steps {
		f.now += s.after
		if got := f.d.Packet(f.now, &f.f, false, 0, told(s.hop)).Has(e); got != s.want {
			f.t.Errorf("step %d: %v is %v, want %v", i, e, got, s.want)
		}
	}
}

func TestCongestion(t *testing.T) {
	unknownQueue := with(one(0), func(v *values) { v.queue = unknown32 })
	other := with(one(9000), func(v *values) { v.queue = 2<<24 | 9000 })
	nowhere := with(one(9000), func(v *values) { v.ports = unknown32 })
	nobody := with(one(9000), func(v *values) { v.node = unknown32 })
	late := func(ns uint32) values { return with(one(0), func(v *values) { v.latency = ns }) }
	for name, c := range map[string]struct {
		change func(*Thresholds)
		steps  []step
	}{
		"onset, quota with it, clear always": {nil, []step{
			{ms, one(7999), false}, {ms, one(8000), true}, {ms, one(7999), false}, {ms, one(9000), true}, {ms, one(9000), false},
			{ms, one(9000), true}, {ms, one(9000), false}, {ms, one(18000), false}, {ms, one(4001), false}, {ms, one(4000), true},
			{ms, one(4000), false}, {ms, one(8000), true}, {ms, one(15999), true}, {ms, one(31998), true},
		}},
		"what is twice as bad is shown, by the value with a threshold": {nil, []step{
			{ms, with(one(8000), func(v *values) { v.latency = 9 }), true}, {ms, one(9000), true},
			{ms, with(one(9001), func(v *values) { v.latency = 99_999 }), false}, {ms, one(18000), true},
		}},
		"twice as bad as the last that was shown, not as the worst": {nil, []step{
			{ms, one(100), false}, {ms, one(9000), true}, {ms, one(8000), true}, {ms, one(16000), true},
		}},
		"no sample for a second ends it silently, with its quota": {nil, []step{
			{ms, one(8000), true}, {ms, one(8000), true}, {ms, one(8000), false}, {second - 1, one(8000), true},
			{second, one(0), false}, {ms, one(8000), true}, {second, one(8000), true},
		}},
		"each queue has its own": {nil, []step{
			{ms, one(8000), true}, {ms, other, true}, {ms, one(10), true}, {ms, other, true}, {ms, other, false}, {ms, other, true},
		}},
		"unknown is no sample": {nil, []step{
			{ms, unknownQueue, false}, {ms, nowhere, false}, {ms, nobody, false}, {ms, one(8000), true}, {ms, unknownQueue, false},
			{999 * ms, one(0), false}, // the episode is over
		}},
		"by latency, raise = 0": {func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 500_000 }, []step{
			{ms, one(1 << 23), false}, {ms, late(499_999), false}, {ms, late(500_000), true}, {ms, late(250_000), false},
			{ms, with(late(249_999), func(v *values) { v.queue = 1<<24 | 9000 }), true}, {ms, late(unknown32), false},
		}},
		"by both: clear needs both": {func(t *Thresholds) { t.CongestionLatency = 500_000 }, []step{
			{ms, late(500_000), true}, {ms, with(late(1), func(v *values) { v.queue = 1<<24 | 4001 }), false},
			{ms, with(late(250_000), func(v *values) { v.queue = 1<<24 | 4000 }), false}, {ms, late(unknown32), false},
			{ms, late(249_999), true},
		}},
		"off": {func(t *Thresholds) { t.CongestionRaise = 0 }, []step{{ms, one(0xfffffe), false}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := watching(Congestion)
			if c.change != nil {
				c.change(&p.Thresholds)
			}
			begun(t, p).steps(Congestion, c.steps)
		})
	}
}

// TestCongestionOnAFirstPacket: its onset counts and is not reported for it.
func TestCongestionOnAFirstPacket(t *testing.T) {
	f := start(t, watching(Congestion, NewFlow))
	f.observed(0, told(one(9000)), NewFlow.Set())
	f.observed(ms, told(one(9000)), Congestion.Set())
	var g flows.Flow // another flow's first does not use the quota
	if set := f.d.Packet(f.now, &g, true, 0, told(one(9000))); set != NewFlow.Set() {
		t.Errorf("another first packet: %b", set)
	}
	f.observed(ms, told(one(9000)), 0)
	f.observed(ms, told(one(9000)), Congestion.Set())
	for n := 5; n <= 16; n++ { // what was not sent spends nothing: the quota of 3 is for the 2nd, 4th and 8th
		want := Set(0)
		if n == 8 {
			want = Congestion.Set()
		}
		f.observed(ms, told(one(9000)), want)
	}
	f.observed(ms, told(one(0)), Congestion.Set())
	if n := f.d.Counters.Suppressed[Congestion][SuppressQuota]; n != 1 {
		t.Errorf("%d withheld by quota, want 1", n)
	}
}

// TestCongestionUnderTwoWatches: packets of a watch with high thresholds, or that watches latencies alone, do not end the
// episode of one with low ones: its quota holds, and its end comes once.
func TestCongestionUnderTwoWatches(t *testing.T) {
	low, high, slow := watching(Congestion), watching(Congestion), watching(Congestion)
	high.Thresholds.CongestionRaise, high.Thresholds.CongestionClear = 80_000, 40_000
	slow.Thresholds.CongestionRaise, slow.Thresholds.CongestionLatency, slow.Thresholds.CongestionTimeout = 0, 500_000, 10*ms
	d := New([]Policy{low, high, slow}, 42)
	defer d.Close()
	var f [3]flows.Flow
	now, reports := second, 0
	packet := func(watch int, occupancy uint32) bool {
		now += 20 * ms
		v := one(occupancy)
		v.latency = 1000
		f[watch].Watch = uint8(watch)
		return d.Packet(now, &f[watch], false, watch, told(v)).Has(Congestion)
	}
	for range 20 {
		if packet(0, 9000) {
			reports++
		}
		if packet(1, 9000) || packet(2, 9000) {
			t.Fatal("a report under a watch whose threshold is not reached")
		}
	}
	if n := d.Counters.Fired[Congestion]; reports != int(low.Thresholds.CongestionQuota) || n != 1 {
		t.Errorf("%d reports of %d episodes, want %d of one", reports, n, low.Thresholds.CongestionQuota)
	}
	if packet(1, 5000) || !packet(1, 4000) || packet(0, 4000) {
		t.Error("the end is not at the lowest threshold, or not once")
	}
}

// TestCongestionBegunByAnotherValue: a watch of occupancies ends the episode that one of latencies has begun, and the
// other way round: values count whoever's packets tell them.
func TestCongestionBegunByAnotherValue(t *testing.T) {
	queues, nodes := watching(Congestion), watching(Congestion)
	nodes.Thresholds.CongestionRaise, nodes.Thresholds.CongestionLatency = 0, 500_000
	for _, begins := range []int{0, 1} {
		d := New([]Policy{queues, nodes}, 42)
		var f [2]flows.Flow
		packet := func(watch int, occupancy, latency uint32) bool {
			v := one(occupancy)
			v.latency = latency
			f[watch].Watch = uint8(watch)
			return d.Packet(second, &f[watch], false, watch, told(v)).Has(Congestion)
		}
		if !packet(begins, 9000, 600_000) || packet(1-begins, 4001, 250_000) || !packet(1-begins, 0, 1000) {
			t.Errorf("begun by watch %d: the other one does not end it", begins)
		}
		d.Close()
	}
}

// TestCongestionWhoseValueIsNotTold: the value by which an episode began does not hold it for longer than the timeout, where
// packets come on that do not tell it.
func TestCongestionWhoseValueIsNotTold(t *testing.T) {
	p := watching(Congestion)
	p.Thresholds.CongestionLatency = 500_000
	f := begun(t, p)
	slow := with(one(0), func(v *values) { v.latency = 600_000 })
	untold := with(one(0), func(v *values) { v.latency = unknown32 })
	f.observed(ms, told(slow), Congestion.Set())
	f.observed(second/2, told(untold), 0)
	f.observed(second/2-1, told(untold), 0)
	f.observed(1, told(untold), Congestion.Set())
}

// TestCongestionOverAReload: an episode ends by the thresholds that there are after it.
func TestCongestionOverAReload(t *testing.T) {
	for name, c := range map[string]struct {
		old, rules func(*Thresholds)
		begin, end values
		after      int64
	}{
		"a higher clear": {func(*Thresholds) {}, func(t *Thresholds) { t.CongestionRaise, t.CongestionClear = 80_000, 40_000 }, one(9000), one(39_000), 0},
		"occupancy in place of latency": {func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 500_000 }, func(*Thresholds) {},
			with(one(0), func(v *values) { v.latency = 600_000 }), with(one(0), func(v *values) { v.latency = 600_000 }), 0},
		"a higher latency": {func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 500_000 }, func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 2_000_000 },
			with(one(0), func(v *values) { v.latency = 600_000 }), with(one(0), func(v *values) { v.latency = 999_999 }), 0},
		"latency in place of occupancy": {func(*Thresholds) {}, func(t *Thresholds) { t.CongestionRaise, t.CongestionLatency = 0, 500_000 }, one(9000), one(9000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, q := watching(Congestion), watching(Congestion)
			c.old(&p.Thresholds)
			c.rules(&q.Thresholds)
			f := begun(t, p)
			f.observed(ms, told(c.begin), Congestion.Set())
			f.d.SetRules([]Policy{q}, nil)
			f.observed(ms, told(c.end), Congestion.Set())
		})
	}
	p, q := watching(Congestion), watching(Congestion) // a shorter timeout
	q.Thresholds.CongestionTimeout = 10 * ms
	f := begun(t, p)
	f.observed(ms, told(one(9000)), Congestion.Set())
	f.d.SetRules([]Policy{q}, nil)
	f.observed(20*ms, told(one(0)), 0)
}

func TestTxUtilization(t *testing.T) {
	tx := func(percent uint32) values { return with(one(0), func(v *values) { v.tx = percent }) }
	for name, c := range map[string]struct {
		hold  int64
		steps []step
	}{
		"once until it was low for the whole time": {5 * second, []step{
			{ms, tx(89), false}, {ms, tx(90), true}, {ms, tx(95), false}, {second, tx(75), false}, {4 * second, tx(75), false},
			{ms, tx(76), false}, {ms, tx(90), false}, {ms, tx(75), false}, {5 * second, tx(75), false}, {ms, tx(90), true},
		}},
		"unknown says nothing": {5 * second, []step{
			{ms, tx(unknown32), false}, {ms, tx(90), true}, {ms, tx(75), false}, {3 * second, tx(unknown32), false},
			{2 * second, tx(75), false}, {ms, tx(91), true},
		}},
		"pending within the second": {100 * ms, []step{
			{ms, tx(90), true}, {ms, tx(10), false}, {100 * ms, tx(10), false}, {ms, tx(90), false}, {ms, tx(89), false},
			{second, tx(89), false}, {ms, tx(90), true}, {2 * second, tx(90), false},
		}},
		"forgotten": {5 * second, []step{{ms, tx(90), true}, {600e9, tx(90), false}, {600e9 + 1, tx(90), true}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := watching(TxUtilization)
			p.Thresholds.TxHold = c.hold
			begun(t, p).steps(TxUtilization, c.steps)
		})
	}
	f := start(t, watching(TxUtilization))
	f.observed(0, told(tx(99)), 0) // a first packet moves the state
	f.observed(ms, told(tx(99)), 0)
}

// TestLinkLatency: the latency belongs to the link, whichever flow measures it.
func TestLinkLatency(t *testing.T) {
	link := func(ns int64) *Observation {
		return told(values{node: 2, ports: 0x10002, in: uint64(1_000_000 + ns)}, values{node: 1, ports: 0x10002, out: 1_000_000})
	}
	without := func(o *Observation, at int, word uint64) *Observation {
		binary.BigEndian.PutUint64(o.Frame[at:], word)
		return o
	}
	f := start(t, watching(LinkLatency))
	f.observed(0, link(20_000), 0)
	var g flows.Flow
	other := func(ns int64, want Set) {
		t.Helper()
		f.now += ms
		if set := f.d.Packet(f.now, &g, false, 0, link(ns)); set != want {
			t.Errorf("%d ns: %b, want %b", ns, set, want)
		}
	}
	f.observed(ms, link(30_000), 0) // as far as it may
	f.observed(ms, link(30_001), 0)
	f.observed(ms, without(link(90_000), 16, unknown64), 0) // the second node's ingress
	f.observed(ms, without(link(90_000), 36+24, unknown64), 0)
	f.observed(ms, link(-1), 0)
	other(30_001, LinkLatency.Set())
	other(90_000, 0)
	f.observed(ms, link(90_000), 0) // within its second
	f.observed(ms, link(90_000), 0)
	f.observed(second, link(90_000), LinkLatency.Set())
	f.observed(ms, without(link(9_000), 0, uint64(unknown32)<<32|0x10002), 0)
	f.observed(ms, without(link(9_000), 36, 1<<32|unknown32), 0)
	f.observed(ms, link(9_000), 0)
	if c := f.d.Counters; c.ClockSkew != 1 || c.Fired[LinkLatency] != 4 || c.Suppressed[LinkLatency][SuppressInterval] != 2 {
		t.Errorf("counters %+v", c)
	}
}

// TestLinkThatBeginsNegative has no reference before its first sound value.
func TestLinkThatBeginsNegative(t *testing.T) {
	f := start(t, watching(LinkLatency))
	for i, ns := range []int64{-5, -90_000, 100_000, 100_000, 100_000} {
		f.observed(int64(i)*ms, told(values{node: 2, ports: 1, in: uint64(1_000_000 + ns)}, values{node: 1, ports: 1, out: 1_000_000}), 0)
	}
	if n := f.d.Counters.ClockSkew; n != 2 {
		t.Errorf("clock skew %d, want 2", n)
	}
}

// TestWrongClock: nothing is concluded from segments of a node whose clock is wrong, whether they are watched or not: they have no
// latency, give no event and are not learned.
func TestWrongClock(t *testing.T) {
	for _, p := range []Policy{watching(LinkLatency), watching(HopLatency)} {
		f := start(t, p)
		packet := func(ns int64) *Observation {
			return told(values{node: 2, ports: 0x10002, latency: 100, in: uint64(9_000_000 + ns)}, values{node: 1, ports: 0x10002, latency: 100, out: 9_000_000})
		}
		key := [2]uint64{1<<32 | 2, 2<<32 | 1<<16}
		f.d.shared.clocks.See(f.now, []clock.Crossing{{From: 9, To: 2, Ns: 5e6}, {From: 8, To: 2, Ns: 5e6}, {From: 2, To: 7, Ns: -5e6}})
		f.d.shared.clocks.See(f.now, slices.Repeat([]clock.Crossing{{From: 9, To: 2, Ns: 5e6}, {From: 8, To: 2, Ns: 5e6}, {From: 2, To: 7, Ns: -5e6}}, 3))
		if wrong, _ := f.d.shared.clocks.Judge(f.now); len(wrong) != 1 || wrong[0].Node != 2 {
			t.Fatalf("judged %v", wrong)
		}
		for range 100 {
			f.d.Samples.due = true
			f.observed(ms, packet(5_000_000), 0)
		}
		if k := f.d.fabric.Links.Find(key); k == nil || k.Last != unknown32 || k.Skews < 99 {
			t.Errorf("link %+v", k)
		}
		if _, known := f.d.Usual().Of(usual.Place{Kind: usual.Segment, Key: key}); known {
			t.Error("a segment is learned")
		}
	}
}

// TestEndToEnd: the sum of the hops, or sink's less source's time.
func TestEndToEnd(t *testing.T) {
	f := start(t, watching(EndToEnd))
	way := func(ns uint32) *Observation {
		return told(values{node: 3, ports: 1, latency: ns / 2}, values{node: 2, ports: 1, latency: ns - ns/2})
	}
	f.observed(0, way(20_000), 0)
	f.observed(ms, way(70_001), 0)
	f.observed(ms, told(values{node: 3, ports: 1, latency: 900_000}, values{node: 2, ports: 1, latency: unknown32}), 0)
	cut := way(900_000)
	cut.Info.MTUExceeded = true // some node is not in the sum
	f.observed(ms, cut, 0)
	f.observed(ms, way(70_001), EndToEnd.Set())
	f.observed(ms, way(300_000), 0)
	f.observed(ms, way(300_000), 0) // pending
	f.observed(98*ms, way(300_000), EndToEnd.Set())
	f.observed(ms, way(1<<32-2), 0)
	f.observed(100*ms, told(values{node: 3, ports: 1, latency: 1<<32 - 2}, values{node: 2, ports: 1, latency: 1<<32 - 2}), EndToEnd.Set())
	if d := f.d.Trigger; d != (Trigger{unknown32, 300_000, unknown32 - 1}) {
		t.Errorf("trigger %+v", d)
	}

	p := watching(EndToEnd)
	p.Thresholds.PTP, p.Thresholds.ClockOffset = true, 3*ms
	f = start(t, p)
	stamped := func(ns int64) *Observation { // over by so much at the next packet
		return told(values{node: 2, ports: 1}, values{node: 1, ports: 1, in: uint64(f.now + ms - 3*ms - ns)})
	}
	f.observed(ms, stamped(20_000), 0)
	f.observed(ms, stamped(-1), 0)
	f.observed(ms, stamped(90_000), 0)
	gap := stamped(0)
	binary.BigEndian.PutUint64(gap.Frame[36+16:], unknown64)
	f.observed(ms, gap, 0)
	f.observed(ms, stamped(90_000), EndToEnd.Set())
	if n := f.d.Counters.WaySkew; n != 1 {
		t.Errorf("clock skew %d, want 1", n)
	}
}

// TestTablesWithoutEvents: where no watch asks for queues and interfaces, the tables show what was last known of them.
func TestTablesWithoutEvents(t *testing.T) {
	f := begun(t, watching(LinkLatency))
	defer f.d.Close()
	queues, interfaces := f.d.fabric.Queues, f.d.fabric.Interfaces
	key := one(0)
	f.observed(ms, told(with(key, func(v *values) { v.queue, v.tx = unknown32, unknown32 })), 0)
	if q, i := queues.Find([2]uint64{7<<32 | 2, 0xff}), interfaces.Find([2]uint64{7<<32 | 2}); q != nil || i != nil {
		t.Errorf("of unknown values there are %+v, %+v", q, i)
	}
	f.observed(ms, told(with(one(9000), func(v *values) { v.latency, v.tx = 300, 95 })), 0)
	q, i := queues.Find([2]uint64{7<<32 | 2, 1}), interfaces.Find([2]uint64{7<<32 | 2})
	if q == nil || *q != (Queue{Occupancy: 9000, Latency: 300, Rest: nothingElse, Seen: f.now}) || i == nil || *i != (Interface{Utilization: 95, Highest: 95}) {
		t.Errorf("the tables show %+v, %+v", q, i)
	}
}

// TestEndToEndWithoutNodes: the latency of the whole path needs no node ids, only the hops' latencies.
func TestEndToEndWithoutNodes(t *testing.T) {
	for _, format := range []inthdr.Format{inthdr.Format2, inthdr.Format1, inthdr.Format2016} {
		for _, bitmap := range []uint16{inthdr.BitHopLatency, inthdr.BitLevel1Interfaces | inthdr.BitHopLatency} {
			f := start(t, watching(EndToEnd, HopLatency, PathChange))
			layout := inthdr.LayoutOf(bitmap, format)
			way := func(latencies ...uint32) *Observation {
				var b []byte
				for _, x := range latencies {
					if bitmap != inthdr.BitHopLatency {
						b = binary.BigEndian.AppendUint32(b, 1<<16|2)
					}
					b = binary.BigEndian.AppendUint32(b, x)
				}
				return &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
					Type: inthdr.MD, Format: format, Bitmap: bitmap, HopLen: uint16(layout.HopLen), Hops: uint16(len(latencies)), StackLen: uint16(len(b)),
				}}
			}
			f.observed(ms, way(10_000, 20_000), 0)
			f.observed(ms, way(10_000, 70_001), 0) // by 50,001, the first of two
			f.observed(ms, way(10_000, unknown32), 0)
			f.observed(ms, way(10_000, 70_001), EndToEnd.Set())
			f.observed(ms, way(10_000, 70_001), 0)
		}
	}
}
