package event

import (
	"encoding/binary"
	"math"
	"testing"

	"intsink/engine/histogram"
	"intsink/engine/wire/inthdr"
)

// stamped is one hop of a packet whose nodes write all that models speak of. The
// values are as on the wire.
type stamped struct {
	node, latency, queue uint32
	ingress, egress      uint64
}

// timed is a packet with these hops, the newest first, as the format writes them.
func timed(format inthdr.Format, hops ...stamped) *Observation {
	bitmap := uint16(inthdr.BitNodeID | inthdr.BitLevel1Interfaces | inthdr.BitHopLatency | inthdr.BitQueue |
		inthdr.BitIngressTimestamp | inthdr.BitEgressTimestamp)
	var b []byte
	stamp := func(v uint64) {
		if format == inthdr.Format2 {
			b = binary.BigEndian.AppendUint64(b, v)
		} else {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
	}
	for _, h := range hops {
		for _, v := range []uint32{h.node, 1<<16 | 2, h.latency, h.queue} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		stamp(h.ingress)
		stamp(h.egress)
	}
	layout := inthdr.LayoutOf(bitmap, format)
	return &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
		Type: inthdr.MD, Format: format, Bitmap: bitmap, HopLen: uint16(layout.HopLen), Hops: uint16(len(hops)), StackLen: uint16(len(b)),
	}}
}

// modelled is a feed whose detector knows models.
func modelled(t *testing.T, p Policy, models ...NodeModel) *feed {
	f := start(t, p)
	f.d.SetRules(f.d.policies, models)
	return f
}

func linkPolicy() Policy {
	p := defaults(LinkLatency)
	p.Thresholds.LinkLatency = Deadband{Absolute: 10_000, Relative: 0.5, K: 1, N: 1}
	return p
}

func only(first, last uint32) []NodeRange { return []NodeRange{{First: first, Last: last}} }

func TestModelOfNode(t *testing.T) {
	m := compileModels([]NodeModel{
		{Nodes: []NodeRange{{First: 101, Last: 101}, {First: 200, Last: 299}, {}}, LatencyUnit: 2},
		{LatencyUnit: 3},
		{Nodes: only(0xfffffffe, 0xfffffffe), LatencyUnit: 4},
	})
	for id, want := range map[uint32]uint32{0: 2, 1: 3, 100: 3, 101: 2, 199: 3, 200: 2, 250: 2, 299: 2, 300: 3, 0xfffffffe: 4, 0xfffffffd: 3} {
		if got := m.of(id).LatencyUnit; got != want {
			t.Errorf("node %d has the model with unit %d, want %d", id, got, want)
		}
	}
	var none models
	if got := none.of(7); got != &asIs || none.scale {
		t.Errorf("without models: %+v", got)
	}
	if m := compileModels([]NodeModel{{Nodes: only(5, 5), TimestampBits: 48}}); m.scale || m.of(6) != &asIs || m.of(5).TimestampBits != 48 {
		t.Errorf("one model: %+v, others %+v", m.of(5), m.of(6))
	}
}

// The table is bounded, whatever it is asked to hold.
func TestModelNodesAreBounded(t *testing.T) {
	m := compileModels([]NodeModel{{Nodes: only(0, math.MaxUint32), LatencyUnit: 2}, {LatencyUnit: 3}})
	if len(m.entries) != 2*MaxModelNodes || m.of(MaxModelNodes-1).LatencyUnit != 2 || m.of(MaxModelNodes).LatencyUnit != 3 {
		t.Errorf("%d entries, %+v, %+v", len(m.entries), m.of(MaxModelNodes-1), m.of(MaxModelNodes))
	}
}

func TestLatencyUnit(t *testing.T) {
	p := defaults(HopLatency)
	p.Thresholds.Latency.K, p.Thresholds.Latency.N = 1, 1
	for _, format := range []inthdr.Format{inthdr.Format2, inthdr.Format1} {
		f := modelled(t, p, NodeModel{Nodes: only(102, 102), LatencyUnit: 1000})
		f.observed(0, timed(format, stamped{node: 102, latency: 20}, stamped{node: 101, latency: 20_000}), 0)
		f.observed(ms, timed(format, stamped{node: 102, latency: 25}, stamped{node: 101, latency: 20_025}), 0)
		f.observed(ms, timed(format, stamped{node: 102, latency: 35}, stamped{node: 101, latency: 20_000}), HopLatency.Set())
		if want := (Trigger{102, 20_000, 35_000}); f.d.Trigger != want {
			t.Errorf("trigger %+v, want %+v", f.d.Trigger, want)
		}
		f.observed(ms, timed(format, stamped{node: 102, latency: unknown32}, stamped{node: 101, latency: 20_000}), 0)
		// 4.3 seconds are the end of what is kept.
		f.observed(second, timed(format, stamped{node: 102, latency: unknown32 - 1}, stamped{node: 101, latency: 20_000}), HopLatency.Set())
		if f.d.Trigger.Value != unknown32-1 {
			t.Errorf("the longest latency is %d", f.d.Trigger.Value)
		}
	}
}

func TestLatencyUnitIn2016(t *testing.T) {
	p := defaults(HopLatency)
	p.Thresholds.Latency.K, p.Thresholds.Latency.N = 1, 1
	f := modelled(t, p, NodeModel{Nodes: only(102, 102), LatencyUnit: 1000})
	f.observed(0, timed(inthdr.Format2016, stamped{node: 102, latency: 20}), 0)
	f.observed(ms, timed(inthdr.Format2016, stamped{node: 102 | 1<<31, latency: 35}), HopLatency.Set())
	if want := (Trigger{102, 20_000, 35_000}); f.d.Trigger != want {
		t.Errorf("trigger %+v, want %+v", f.d.Trigger, want)
	}
}

// The sum of latencies is in nanoseconds too.
func TestLatencyUnitOfTheWholeWay(t *testing.T) {
	p := defaults(EndToEnd)
	p.Thresholds.EndToEnd = Deadband{Absolute: 50_000, Relative: 0.5, K: 1, N: 1}
	f := modelled(t, p, NodeModel{LatencyUnit: 1000})
	f.observed(0, timed(inthdr.Format2, stamped{node: 2, latency: 40}, stamped{node: 1, latency: 40}), 0)
	f.observed(ms, timed(inthdr.Format2, stamped{node: 2, latency: 80}, stamped{node: 1, latency: 60}), EndToEnd.Set())
	if want := (Trigger{unknown32, 80_000, 140_000}); f.d.Trigger != want {
		t.Errorf("trigger %+v, want %+v", f.d.Trigger, want)
	}
}

func TestQueueUnit(t *testing.T) {
	p := defaults(Congestion)
	p.Thresholds.CongestionRaise, p.Thresholds.CongestionClear = 80_000, 40_000
	p.Thresholds.CongestionQuota, p.Thresholds.CongestionTimeout = 1000, second
	f := modelled(t, p, NodeModel{Nodes: only(102, 102), QueueUnit: 80})
	queue := func(n uint32) *Observation {
		return timed(inthdr.Format2, stamped{node: 102, queue: 7<<24 | n}, stamped{node: 101, queue: 7<<24 | 70_000})
	}
	f.observed(0, queue(10), 0)
	f.observed(ms, queue(999), 0)
	f.observed(ms, queue(1000), Congestion.Set())
	if want := (Trigger{102, 80_000, 80_000}); f.d.Trigger != want {
		t.Errorf("trigger %+v, want %+v", f.d.Trigger, want)
	}
	f.observed(ms, queue(501), 0)
	f.observed(ms, queue(500), Congestion.Set())
	f.observed(ms, queue(0xfffffe), Congestion.Set()) // over 2^32 bytes with a larger unit, not with this one
}

// TestUtilizationOfAFullInterface: a node whose model has TxFull is compared in per cent: one unit of the wire below the
// threshold gives no event, the threshold itself does. The same holds for nodes that only the model without a list covers.
func TestUtilizationOfAFullInterface(t *testing.T) {
	layout := inthdr.LayoutOf(inthdr.BitNodeID|inthdr.BitLevel1Interfaces|inthdr.BitTxUtilization, inthdr.Format2)
	p := defaults(TxUtilization)
	p.Thresholds.TxRaise, p.Thresholds.TxClear, p.Thresholds.TxHold = 90, 75, second
	for _, c := range []struct{ full, below, at, value uint32 }{
		{0, 89, 90, 90},
		{100, 89, 90, 90},
		{10_000, 8_999, 9_000, 90},
		{65_535, 58_981, 58_982, 90},
		{4_000_000_000, 3_599_999_999, 3_600_000_000, 90}, // bits per second
		{7, 6, 7, 100},
		{1, 0, unknown32 - 1, unknown32 - 1},
	} {
		for _, nodes := range [][]NodeRange{nil, only(7, 7)} {
			f := modelled(t, p, NodeModel{Nodes: nodes, TxFull: c.full})
			send := func(tx uint32, want Set) {
				b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 7, 0, 1, 0, 2}, tx)
				f.observed(second, &Observation{Frame: b, Layout: &layout, Info: &inthdr.Info{
					Type: inthdr.MD, Bitmap: layout.Bitmap, HopLen: uint16(len(b)), Hops: 1, StackLen: uint16(len(b)),
				}}, want)
			}
			send(c.below, 0)
			send(c.below, 0)
			send(unknown32, 0)
			p := &f.d.View().Policies[0]
			if len(nodes) == 0 && (c.below > p.Most[MostTx] || c.at <= p.Most[MostTx]) {
				t.Errorf("full %d: C takes up to %d for below", c.full, p.Most[MostTx])
			}
			send(c.at, TxUtilization.Set())
			if want := (Trigger{7, 90, c.value}); f.d.Trigger != want {
				t.Errorf("full %d: trigger %+v, want %+v", c.full, f.d.Trigger, want)
			}
		}
	}
}

func TestLinkLatencyWraps(t *testing.T) {
	for _, c := range []struct {
		name   string
		format inthdr.Format
		models []NodeModel
		top    uint64 // where the clock wraps
		unit   int64
	}{
		{"64 bits", inthdr.Format2, nil, 0, 1},
		{"INT 1.0", inthdr.Format1, nil, 1 << 32, 1},
		{"48 bits", inthdr.Format2, []NodeModel{{TimestampBits: 48}}, 1 << 48, 1},
		{"48 bits of 8 ns", inthdr.Format2, []NodeModel{{TimestampBits: 48, TimestampUnit: 8}}, 1 << 48, 8},
		{"24 bits in INT 1.0", inthdr.Format1, []NodeModel{{TimestampBits: 24, TimestampUnit: 1000}}, 1 << 24, 1000},
		{"the narrower of two", inthdr.Format2, []NodeModel{{Nodes: only(1, 1), TimestampBits: 48}, {TimestampBits: 40}}, 1 << 40, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := modelled(t, linkPolicy(), c.models...)
			// A packet that leaves node 1 at egress arrives at node 2 so many ns later.
			send := func(egress uint64, ns int64, want Set) {
				t.Helper()
				ingress := egress + uint64(ns/c.unit)
				if c.top != 0 {
					egress, ingress = egress%c.top, ingress%c.top
				}
				f.observed(ms, timed(c.format, stamped{node: 2, ingress: ingress, egress: unknown64}, stamped{node: 1, ingress: unknown64, egress: egress}), want)
			}
			send(1000, 20_000, 0)
			send(c.top-1, 24_000, 0)
			send(c.top-2, 48_000, LinkLatency.Set())
			if want := (Trigger{1, 20_000, 48_000}); f.d.Trigger != want {
				t.Errorf("trigger %+v, want %+v", f.d.Trigger, want)
			}
			if f.d.Counters.ClockSkew != 0 {
				t.Errorf("%d skews", f.d.Counters.ClockSkew)
			}
			send(5000, -2000, 0)
			if c.top > 0 {
				send(c.top, -2000, 0)
			} else {
				send(1<<63, -2000, 0)
			}
			if f.d.Counters.ClockSkew != 2 {
				t.Errorf("%d skews, want 2", f.d.Counters.ClockSkew)
			}
		})
	}
}

// Nodes whose clocks tick differently can be compared by the sink's clock only.
func TestLinkBetweenUnits(t *testing.T) {
	for _, unix := range []bool{true, false} {
		f := modelled(t, linkPolicy(),
			NodeModel{Nodes: only(1, 1), TimestampBits: 48, TimestampUnit: 1, Unix: unix},
			NodeModel{Nodes: only(2, 2), TimestampBits: 32, TimestampUnit: 8, Unix: true})
		f.now = 1_700_000_000_123_456_789
		want := LinkLatency.Set()
		if !unix {
			want = 0
		}
		send := func(ns int64, want Set) {
			t.Helper()
			left := f.now - 100_000
			f.observed(0, timed(inthdr.Format2, stamped{node: 2, ingress: uint64(left+ns) / 8 % (1 << 32)},
				stamped{node: 1, egress: uint64(left) % (1 << 48)}), want)
		}
		send(20_000, 0)
		f.now += ms
		send(50_000, want)
		if unix && (f.d.Trigger.Value < 49_992 || f.d.Trigger.Value > 50_000) {
			t.Errorf("trigger %+v", f.d.Trigger)
		}
	}
}

// TestLinkBetweenUnitsAfterAStep: the time of day counts, however far the sink's clock is from it since its start: for
// the event, for the table where nobody watches links, and for the histogram of latencies.
func TestLinkBetweenUnitsAfterAStep(t *testing.T) {
	models := []NodeModel{{Nodes: only(1, 1), TimestampBits: 32, Unix: true}, {Nodes: only(2, 2), TimestampBits: 32, TimestampUnit: 1000, Unix: true}}
	key := [2]uint64{1<<32 | 2, 2<<32 | 1<<16}
	for _, step := range []int64{0, 2 * second, 10 * second, -10 * second, 3600 * second} {
		for _, watched := range []bool{true, false} {
			p := linkPolicy()
			if !watched {
				p = watching(TxUtilization) // its packets update the table all the same
			}
			f := modelled(t, p, models...)
			f.now, f.d.Wall = 1_700_000_000_000_000_000-step, step
			send := func(ns int64) Set {
				left := f.now + step - 400_000
				return f.look(0, timed(inthdr.Format2, stamped{node: 2, ingress: uint64((left+ns)/1000) % (1 << 32), egress: unknown64},
					stamped{node: 1, ingress: unknown64, egress: uint64(left) % (1 << 32)}))
			}
			set := send(20_000) | send(50_000)
			k := f.d.fabric.Links.Find(key)
			if set.Has(LinkLatency) != watched || k == nil || k.Last != 50_000 || f.d.Counters.ClockSkew != 0 {
				t.Errorf("step %d s, watched %v: events %b, the link is %+v, want 50000 ns", step/second, watched, set, k)
			}
			if want := (Trigger{1, 20_000, 50_000}); watched && f.d.Trigger != want {
				t.Errorf("step %d s: trigger %+v, want %+v", step/second, f.d.Trigger, want)
			}
			var want histogram.Histogram
			want.Observe(50_000)
			f.d.countLatencies(f.now, timed(inthdr.Format2, stamped{node: 2, latency: unknown32, ingress: uint64(f.now+step) / 1000 % (1 << 32)},
				stamped{node: 1, latency: unknown32, egress: uint64(f.now+step-50_000) % (1 << 32)}))
			if f.d.Counters.LinkLatencies != want {
				t.Errorf("step %d s: latencies %+v, want %+v", step/second, f.d.Counters.LinkLatencies, want)
			}
			f.d.Close()
		}
	}
}

func TestPTPExtendsNarrowTimestamps(t *testing.T) {
	for _, c := range []struct {
		name   string
		format inthdr.Format
		model  NodeModel
		stamp  func(ns int64) uint64
		known  bool
	}{
		{"64 bits", inthdr.Format2, NodeModel{Unix: true}, func(ns int64) uint64 { return uint64(ns) }, true},
		{"48 bits", inthdr.Format2, NodeModel{TimestampBits: 48, Unix: true}, func(ns int64) uint64 { return uint64(ns) % (1 << 48) }, true},
		{"INT 1.0", inthdr.Format1, asIs, func(ns int64) uint64 { return uint64(uint32(ns)) }, true},
		{"microseconds", inthdr.Format2, NodeModel{TimestampUnit: 1000, Unix: true}, func(ns int64) uint64 { return uint64(ns / 1000) }, true},
		{"since start", inthdr.Format2, NodeModel{TimestampBits: 48}, func(ns int64) uint64 { return uint64(ns) % (1 << 48) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := defaults(EndToEnd)
			p.Thresholds.PTP, p.Thresholds.ClockOffset = true, 5000
			p.Thresholds.EndToEnd = Deadband{Absolute: 50_000, Relative: 0.5, K: 1, N: 1}
			f := modelled(t, p, c.model)
			send := func(ns int64, want Set) {
				t.Helper()
				if !c.known {
					want = 0
				}
				f.observed(0, timed(c.format, stamped{node: 2}, stamped{node: 1, ingress: c.stamp(f.now - 5000 - ns)}), want)
			}
			f.now = 1_700_000_000_000_000_000
			send(100_000, 0)
			f.now = f.now>>32<<32 + 6000 // the lower 32 bits of the source's time are from before they wrapped
			send(200_000, EndToEnd.Set())
			if x := f.d.Trigger.Value; c.known && x != 200_000 && c.name != "microseconds" || x > 201_000 {
				t.Errorf("trigger %+v", f.d.Trigger)
			}
			skews := f.d.Counters.WaySkew
			send(-50_000, 0)
			if got := f.d.Counters.WaySkew - skews; c.known && got != 1 || !c.known && got != 0 {
				t.Errorf("%d skews", got)
			}
			f.observed(0, timed(c.format, stamped{node: 2}, stamped{node: 1, ingress: unknown64}), 0)
		})
	}
}

func TestStamps(t *testing.T) {
	const now = 1763776800_000000500
	m := NewModels([]NodeModel{
		{Nodes: only(1, 1), LatencyUnit: 1000, QueueUnit: 80, TimestampBits: 48, Unix: true},
		{Nodes: only(2, 2), TimestampBits: 32, TimestampUnit: 8},
	})
	asWire, short, free := m.Of(7), m.Of(1), m.Of(2)
	if short.Latency(5) != 5000 || short.Occupancy(2) != 160 || asWire.Latency(5) != 5 || asWire.Occupancy(2) != 2 {
		t.Error("units")
	}
	for _, c := range []struct {
		name  string
		s     Stamp
		ns    uint64
		known bool
	}{
		{"as the wire has it", Stamp{now - 400, 64, asWire}, now - 400, true},
		{"far away", Stamp{5, 64, asWire}, 5, true},
		{"a format of 32 bits", Stamp{(now - 400) & (1<<32 - 1), 32, asWire}, now - 400, true},
		{"a node of 48 bits", Stamp{(now + 400) & (1<<48 - 1), 64, short}, now + 400, true},
		{"counts from somewhere", Stamp{5, 64, free}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ns, known := c.s.Unix(now); known != c.known || known && ns != c.ns {
				t.Errorf("%d, %v; want %d, %v", ns, known, c.ns, c.known)
			}
		})
	}
	if ns, known := (Stamp{(1<<32 - 10), 64, free}).Until(now, Stamp{5, 64, free}); ns != 15*8 || !known {
		t.Errorf("over the wrap of 32 bits: %d, %v", ns, known)
	}
	if ns, known := (Stamp{now, 64, asWire}).Until(now, Stamp{now - 30, 64, asWire}); ns != -30 || !known {
		t.Errorf("a clock that is behind: %d, %v", ns, known)
	}
}
