package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/internal/rounds"
)

// Thresholds that the values of TestValuesAtThresholds are drawn around.
const (
	atLatency = 20_000 // a hop's, mostly
	atBand    = 10_000
	atRaise   = 5000
	atClear   = 100
	atTx      = 90
)

// drawRules makes rules at random: which events, their thresholds, units of nodes, and what
// watches ask of packets.
func drawRules(r *rand.Rand, rules *Rules) {
	band := func() event.Deadband {
		n := 1 + r.IntN(8)
		return event.Deadband{Absolute: atBand * uint32(r.IntN(4)) / 3, Relative: []float64{0, 0.5, 0.3}[r.IntN(3)], K: 1 + r.IntN(n), N: n, Interval: int64(r.IntN(2)) * 5e6}
	}
	for i := range rules.Watches {
		w := &rules.Watches[i]
		w.Policy.Sample, w.Policy.SampleByFlow = uint32(r.IntN(3)*r.IntN(4)), r.IntN(2) == 0
		for e := range event.NumEvents {
			if set := event.Event(e).Set(); r.IntN(4) > 0 {
				w.Policy.Events |= set
			} else {
				w.Policy.Events &^= set
			}
		}
		t := &w.Policy.Thresholds
		t.Latency, t.EndToEnd, t.LinkLatency, t.PTP = band(), band(), band(), r.IntN(4) == 0
		t.CongestionRaise, t.CongestionClear, t.CongestionQuota, t.CongestionTimeout = uint32(r.IntN(2))*atRaise, atClear, 3, 1e7
		t.CongestionLatency = uint32(r.IntN(4)/3) * (atLatency + atBand)
		if r.IntN(3) == 0 { // by what is usual, and a floor
			t.CongestionRaise, t.CongestionClear, t.CongestionFactor, t.CongestionLatency = 0, 0, 2+uint32(r.IntN(8)), atLatency+uint32(r.IntN(2))*atBand
		}
		t.TxRaise, t.TxClear, t.TxHold = uint32(r.IntN(2)*atTx), atTx-10, 1e7
		t.LossWindow, t.LossTimeout, t.LossInterval = 64, 2e7, 1e6
		t.RefreshEvery = 1e7 + r.Int64N(1e9)
	}
	rules.NodeModels = [][]event.NodeModel{nil, {{LatencyUnit: 2, QueueUnit: 3, Unix: true}}, {{Nodes: []event.NodeRange{{First: 0, Last: 1}}, LatencyUnit: 2, QueueUnit: 3, Unix: true}},
		{{Nodes: []event.NodeRange{{First: 0, Last: 1}}, LatencyUnit: 2, QueueUnit: 3, TimestampBits: 40}}}[r.IntN(4)]
	switch r.IntN(4) {
	case 0:
		rules.Watches[0].DSCP = []uint8{0, 7}
	case 1:
		rules.Watches[1].VLAN = []watch.PortRange{{First: 1, Last: 2000}}
	case 2:
		rules.Watches[2].Device = []uint64{1, 3}
		rules.Watches = rules.Watches[:4] // some flows are watched by none
	}
}

// walker makes packets of one flow, whose values walk around thresholds.
type walker struct {
	orig   []byte
	s      *intgen.Source
	hops   []intgen.Hop
	other  []intgen.Hop // another path
	number uint32
	base   uint64 // of timestamps
}

func newWalker(t *testing.T, r *rand.Rand, port int) *walker {
	for {
		f := intgen.Flow{Src: address(10, 0, 0, 1), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: uint16(port), DstPort: 7999 + uint16(r.IntN(6)), DSCP: uint8(r.IntN(2) * 7)}
		if r.IntN(2) == 0 {
			f.VLANs = []uint16{uint16(r.IntN(4094) + 1)}
		}
		x := &walker{orig: f.Frame(r.IntN(60), 1), number: math.MaxUint32 - uint32(r.IntN(20)), base: []uint64{1_700_000_000e9, math.MaxUint64 - 40_000, 0}[r.IntN(3)]}
		x.s = &intgen.Source{UDPPort: 5000, Bitmap: []uint16{0xf000, 0xfd00, 0xed00, 0xe000, 0xff00, 0xfd80, 0x9000, 0x8000, 0xb000, 0xbd80, 0xd900, 0x9800, 0x8c00}[r.IntN(13)], MaxHops: 20}
		switch r.IntN(4) {
		case 0:
			x.s.DomainID, x.s.DSInstruction, x.s.SourceOnly = 0x5453, 1<<15, make([]byte, 4)
		case 1:
			x.s.Type = intgen.TypeMX
		}
		for n := range 1 + r.IntN(5) {
			x.hops = append(x.hops, intgen.Hop{NodeID: uint32(n % 4), Ingress: 1, Egress: 2 + uint16(r.IntN(2)), QueueID: uint8(r.IntN(2))})
		}
		x.other = append([]intgen.Hop{{NodeID: 77, Ingress: 1, Egress: 2}}, x.hops[1:]...)
		if x.s.Type == intgen.TypeMX {
			x.hops, x.other = nil, nil
		}
		if _, err := x.s.Insert(x.orig, x.hops); err == nil {
			return x
		}
	}
}

func draw[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// next is the flow's next packet: mostly as the last one, or with a value at a threshold.
func (x *walker) next(t *testing.T, r *rand.Rand, now int64) []byte {
	hops := x.hops
	if r.IntN(60) == 0 {
		hops = x.other
	}
	if len(hops) > 0 && r.IntN(100) == 0 { // halves of words are unknown
		hops = slices.Clone(hops)
		h := &hops[r.IntN(len(hops))]
		draw(r, func() { h.Ingress = math.MaxUint16 }, func() { h.Egress = math.MaxUint16 }, func() { h.QueueID = math.MaxUint8 })()
	}
	at := x.base
	if at == 0 {
		at = uint64(now) - 200_000
	}
	for i := len(hops) - 1; i >= 0; i-- {
		h := &hops[i]
		h.LatencyNs, h.QueueOccupancy, h.TxUtilization = atLatency, uint32(r.IntN(atClear)), 20
		wait := uint64(5000)
		switch r.IntN(50) {
		case 0:
			h.LatencyNs = atLatency + draw[uint32](r, atBand/3, atBand/3+1, atBand*2/3, atBand, atBand+1, 1<<31)
		case 1:
			h.LatencyNs = atLatency - draw[uint32](r, atBand/3, atBand/3+1, atBand, atBand+1)
		case 2:
			h.QueueOccupancy = draw[uint32](r, atRaise-1, atRaise, atRaise/3, atRaise/3+1, atClear, atClear+1, 0xffffff)
		case 3:
			h.TxUtilization = draw[uint32](r, atTx-1, atTx, atTx-10, atTx-9, math.MaxUint32)
		case 4:
			wait = draw[uint64](r, 0, 5000+atBand, 5000+atBand+1, 5001+atBand/3, 1<<33)
		case 5:
			h.LatencyNs = math.MaxUint32
		}
		h.IngressTimestamp, h.EgressTimestamp = at, at+uint64(h.LatencyNs)
		if r.IntN(200) == 0 {
			h.EgressTimestamp = math.MaxUint64
		}
		at = h.EgressTimestamp + wait
	}
	if x.s.SourceOnly != nil {
		x.number += draw[uint32](r, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 0, math.MaxUint32)
		binary.BigEndian.PutUint32(x.s.SourceOnly, x.number)
	}
	f, err := x.s.Insert(x.orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestValuesAtThresholds: with events, thresholds, units of nodes and facts drawn at random, and
// values that walk around thresholds, a worker with templates reports, counts and forwards like
// one that parses each packet. One packet a burst: what packets of one burst do to the same queue
// or link, the fast path may take in another order.
func TestValuesAtThresholds(t *testing.T) {
	deferred, packets := 0, 0
	for seed := range uint64(rounds.Of(40, 8)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d, n := valuesAtThresholds(t, seed)
			deferred, packets = deferred+d, packets+n
		})
	}
	if deferred > packets*2/3 && !rounds.Race {
		t.Errorf("%d of %d packets did not take the fast path: the test says little", deferred, packets)
	}
}

func valuesAtThresholds(t *testing.T, seed uint64) (deferred, packets int) {
	drawn := func(rules *Rules) { drawRules(rand.New(rand.NewPCG(seed, 1)), rules) }
	b, long, r := newLinksBed(t, false, drawn), newLinksBed(t, false, drawn), rand.New(rand.NewPCG(seed, 2))
	if seed%4 == 3 {
		b.burst.Fast.Portable()
	}
	var walkers []*walker
	for n := range 5 {
		walkers = append(walkers, newWalker(t, r, 1024+n))
	}
	for n := range 600 {
		x := round{room: [4]int{unlimited, unlimited, unlimited, unlimited}, step: r.Int64N(2e5)}
		x.frames[0] = [][]byte{walkers[r.IntN(len(walkers))].next(t, r, b.now)}
		b.live(&x)
		deferred += len(b.burst.Fast.Deferred())
		long.forget()
		long.live(&x)
		b.sameAs(t, long)
		got, want := b.flows(), long.flows()
		for i := range min(len(got), len(want)) {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("packet %d: flow %d is\n%+v, the long way\n%+v", n, i, *got[i], *want[i])
			}
		}
	}
	if c := b.counters.Links[0]; c.INT[inthdr.MD]+c.INT[inthdr.MX] != 600 {
		t.Errorf("INT of %v packets: want 600", c.INT)
	}
	for _, b := range []*linksBed{b, long} {
		b.Close()
		b.handedOver()
		b.balance()
	}
	return deferred, 600
}
