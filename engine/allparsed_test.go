package engine

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside/mitigate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/watch"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
	"intsink/internal/rounds"
)

// chainQueue is a port that delivers some packets in two segments: the same ones, cut at
// the same byte, whichever worker asks.
type chainQueue struct {
	*memQueue
	tail mbuf.Vec // the second segments; no C sees it
}

func (q *chainQueue) RxBurst(v *mbuf.Vec) int {
	frames, tail := q.RX, &q.tail
	n := q.memQueue.RxBurst(v)
	for i, f := range frames[:n] {
		x := crc32.ChecksumIEEE(f)
		if x%4 != 0 || !q.Pool.AllocBulk(tail, 1) {
			continue
		}
		cut := 1 + int(x>>8)%(len(f)-1)
		copy(tail[0].SetLen(len(f)-cut), f[cut:])
		v[i].SetLen(cut)
		v[i].Chain(tail[0])
	}
	return n
}

func (q *chainQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	return q.TxBurst(tx, n), q.RxBurst(rx)
}

// linksBed is a bed of two links; ports are the network's and the host's of the first,
// then those of the second.
type linksBed struct {
	*collectorsBed
	ports       [4]*chainQueue
	mitigations []*mitigate.Rule // on the second link
}

func newLinksBed(t *testing.T, tap bool, change func(*Rules)) *linksBed {
	b := &linksBed{collectorsBed: newCollectorsBed(t, 3, 64, func(r *Rules) {
		r.INT = everyMarking()
		change(r)
	})}
	for i := range b.ports {
		b.ports[i] = &chainQueue{memQueue: &memQueue{Pool: b.pool, Room: unlimited}}
	}
	links := []burst.Link{{Network: b.ports[0], Host: b.ports[1], NetworkID: 1, HostID: 2}, {Network: b.ports[2], Host: b.ports[3], NetworkID: 3, HostID: 4, Droppable: true}}
	if tap {
		links[0].Host = nil
	}
	b.remake(func(c *WorkerConfig) {
		c.Links, c.Outlets = links, outlets(b.rings)
		c.Clock = func() int64 { b.now += 10; return b.now }
	})
	return b
}

// everyMarking is what nestings need, and a domain with sequence numbers.
func everyMarking() inthdr.Config {
	port, gre, d := uint16(5000), uint16(0x88b6), inthdr.Domain{ID: 0x5453}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 4, true, inthdr.Sequence
	return inthdr.Config{
		UDPPort: &port, GREProtocol: &gre, VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82},
		Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}, Version2: true, Domains: []inthdr.Domain{d},
		Formats: inthdr.Formats{IFA: &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}},
	}
}

// forget makes the worker take the long way with all it polls next: without templates.
func (b *linksBed) forget() { b.burst.Fast.ParseAll() }

// round is what happens to a worker in one poll, and until the next.
type round struct {
	frames [4][][]byte // that arrive, by port
	room   [4]int      // for what leaves
	reload bool
	step   int64
	rules  uint64 // seed of new rules of mitigation; 0: they stay
}

func newRound(t *testing.T, r *rand.Rand, tap bool, nested [][]byte) (x round) {
	for port := range x.frames {
		if x.room[port] = unlimited; r.IntN(20) == 0 {
			x.room[port] = r.IntN(mbuf.MaxBurst)
		}
		if r.IntN(3) == 0 || tap && port == 1 {
			continue
		}
		// Often few kinds, so that a burst has many packets of one template.
		kinds := make([][]byte, 1+r.IntN(2)*3+r.IntN(2)*mbuf.MaxBurst)
		for i := range kinds {
			kinds[i] = anyFrame(t, r, nested)
		}
		for range 1 + r.IntN(mbuf.MaxBurst) {
			x.frames[port] = append(x.frames[port], kinds[r.IntN(len(kinds))])
		}
	}
	x.reload, x.step = r.IntN(25) == 0, r.Int64N(2e6)
	switch r.IntN(60) {
	case 0:
		x.step = 40e9 // all flows end
	case 1, 2:
		x.step = r.Int64N(5e9)
	}
	return x
}

// anyFrame returns a frame at random. Most have INT of one of a few shapes, which get templates;
// the packet in the tunnel of the last of nested has one of these shapes, too. Others are unusual
// or damaged.
func anyFrame(t *testing.T, r *rand.Rand, nested [][]byte) []byte {
	f := intgen.Flow{Src: address(10, 0, 0, byte(r.IntN(3))), Dst: address(10, 1, 0, 1), Proto: intgen.UDP, SrcPort: 1024, DstPort: 7999 + uint16(r.IntN(6))}
	orig := f.Frame(r.IntN(200), r.Uint32())
	switch r.IntN(20) {
	case 0:
		return nested[r.IntN(len(nested))]
	case 1:
		return nested[len(nested)-1]
	case 2:
		return orig
	case 3, 4:
		f := reported(t, r)
		switch r.IntN(3) {
		case 0:
			f[14+r.IntN(min(60, len(f)-14))] ^= 1 << r.IntN(8)
			return f
		case 1:
			return f[:len(f)-r.IntN(len(f)-14)]
		}
		return append(f, make([]byte, r.IntN(20))...)
	case 5, 6, 7:
		return reported(t, r)
	}
	source := intgen.Source{UDPPort: 5000, Bitmap: []uint16{0xf000, 0xf000, 0xf900, 0xe000, 0x9000, 0x8000, 0xb000}[r.IntN(7)], MaxHops: 20, DomainID: uint16(r.IntN(8) / 7)}
	hops := make([]intgen.Hop, []int{1, 2, 4, 7}[r.IntN(4)])
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: uint32(i), Ingress: 1, Egress: 2, LatencyNs: 10_000 + uint32(r.IntN(100))}
		if r.IntN(50) == 0 {
			hops[i].LatencyNs, hops[i].QueueOccupancy = 100_000, 5000
		}
	}
	if r.IntN(4) == 0 {
		source = anyIFA(r)
	}
	out, err := source.Insert(orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// anyRules draws rules of mitigation, or none.
func (b *linksBed) anyRules(r *rand.Rand) (all []*mitigate.Rule) {
	for range r.IntN(5) {
		var m selector.Match
		if r.IntN(3) > 0 {
			port := 7999 + uint16(r.IntN(6))
			m.DestinationPort = []selector.PortRange{{First: port, Last: port + 2}}
		}
		if r.IntN(3) > 0 {
			m.Source = []netip.Prefix{netip.PrefixFrom(address(10, 0, 0, byte(r.IntN(3))), 31+r.IntN(2)).Masked()}
		}
		if r.IntN(4) == 0 {
			m.SourceMAC = []uint64{uint64(r.IntN(2))}
		}
		if r.IntN(8) == 0 {
			m.Device = []uint64{uint64(r.IntN(3))}
		}
		action := mitigate.Action(r.IntN(int(mitigate.NumActions)))
		all = append(all, mitigate.NewRule(uint64(len(all)), m, action, 1000+r.Uint64N(1e8), b.now, b.now+r.Int64N(1e10), 1))
	}
	return all
}

// live takes the worker through a round.
func (b *linksBed) live(x *round) {
	for i, q := range b.ports {
		q.RX, q.TX, q.Room = x.frames[i], nil, x.room[i]
	}
	b.Poll()
	if x.rules != 0 {
		b.mitigations = b.anyRules(rand.New(rand.NewPCG(x.rules, 1)))
		AsideOf[*mitigate.Aside](b.Worker).Mitigate(mitigate.New(b.mitigations))
	}
	if x.reload {
		again := *b.rules
		b.Reload(&again)
	}
	b.step(x.step)
}

// sameAs compares all that left b in the last round, and all that it counted.
func (b *linksBed) sameAs(t *testing.T, long *linksBed) {
	t.Helper()
	if got, want := b.handedOver(), long.handedOver(); !reflect.DeepEqual(got, want) {
		t.Fatalf("reports: %s", firstDifference(slices.Concat(got...), slices.Concat(want...)))
	}
	for i, q := range b.ports {
		if !reflect.DeepEqual(q.TX, long.ports[i].TX) {
			t.Fatalf("port %d: %s", i, firstDifference(q.TX, long.ports[i].TX))
		}
		if len(q.RX) != 0 || b.pool.InUse() != 0 || long.pool.InUse() != 0 {
			t.Fatalf("port %d: %d frames wait; %d and %d mbufs in use", i, len(q.RX), b.pool.InUse(), long.pool.InUse())
		}
	}
	for i, r := range b.mitigations {
		if got, want := r.Counters(), long.mitigations[i].Counters(); got != want {
			t.Fatalf("rule %d, %v: %+v, the long way %+v", i, r.Action, got, want)
		}
	}
	if !reflect.DeepEqual(b.counters, long.counters) || b.detector.Counters != long.detector.Counters || b.table.Len() != long.table.Len() {
		t.Fatalf("counters (-the long way)\n%s%s%d flows, the long way %d",
			cmp.Diff(long.counters, b.counters), cmp.Diff(long.detector.Counters, b.detector.Counters), b.table.Len(), long.table.Len())
	}
}

// firstDifference shows the first packet that is another than the long way's.
func firstDifference(got, want [][]byte) string {
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			return fmt.Sprintf("number %d is\n%x, the long way\n%x", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d, the long way %d", len(got), len(want))
}

// flows are those in the table, by their places.
func (b *bed) flows() (out []*flows.Flow) {
	b.table.Walk(0, 1<<20, func(f *flows.Flow) int { out = append(out, f); return 1 })
	return out
}

// TestLongWayChangesNothing: a worker with templates strips, reports and counts like one that
// parses each packet.
func TestLongWayChangesNothing(t *testing.T) {
	nested := nestedFrames(t)
	for name, change := range manyRules() {
		t.Run(name, func(t *testing.T) { sameTheLongWay(t, name == "tap", false, nested, change) })
		t.Run(name+" portable", func(t *testing.T) { sameTheLongWay(t, name == "tap", true, nested, change) })
	}
}

// nestedFrames are packets with INT in each header that it may stand in.
func nestedFrames(t *testing.T) (nested [][]byte) {
	for _, n := range nestings() {
		_, marked := n.Frames(t, func(s *intgen.Source, _ []intgen.Hop) { s.Bitmap = 0xf000 }) // 12 words: 16 less than 7 hops of 4
		nested = append(nested, marked)
	}
	return nested
}

// manyRules are named changes of the default rules. Each makes a worker take other branches of the code.
func manyRules() map[string]func(*Rules) {
	sample := func(r *Rules, every uint32) {
		for i := range r.Watches {
			r.Watches[i].Policy.Sample, r.Watches[i].Policy.SampleByFlow = every, true // which packet comes first does not count
		}
	}
	return map[string]func(*Rules){
		"all are samples": func(*Rules) {},
		"samples":         func(r *Rules) { sample(r, 3) },
		"explained":       func(r *Rules) { r.Report.Explain = true },
		"more is asked":   func(r *Rules) { sample(r, 2); r.Watches[4].DSCP = []uint8{0} },
		"not watched":     func(r *Rules) { r.Watches = nil },
		"malformed drops": func(r *Rules) {
			sample(r, 7)
			r.DropMalformed = true
			for i := range r.Watches {
				r.Watches[i].Policy.Thresholds.RefreshEvery = 5e6
			}
		},
		"congestion by what is usual": func(r *Rules) {
			sample(r, 7)
			for i := range r.Watches {
				p := &r.Watches[i].Policy
				p.Events |= event.Congestion.Set()
				t := &p.Thresholds
				t.CongestionRaise, t.CongestionFactor, t.CongestionLatency, t.CongestionQuota, t.CongestionTimeout = 0, 8, 100_000, 8, 1e9
			}
		},
		"INT of some VLANs": func(r *Rules) {
			sample(r, 3)
			r.INT.Only = &inthdr.Only{VLANs: []inthdr.PortRange{{First: 0, Last: 2000}}}
		},
		"INT of some prefixes": func(r *Rules) {
			sample(r, 3)
			r.INT.Only = &inthdr.Only{Prefixes: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/1"), netip.MustParsePrefix("10.0.0.0/12"), netip.MustParsePrefix("2001:db8::/33")}}
		},
		"a link with INT of its own": func(r *Rules) {
			sample(r, 3)
			own := INTRules{INT: r.INT, DropMalformed: true, Leak: tonetwork.StripLeaks}
			own.INT.Only = &inthdr.Only{VLANs: []inthdr.PortRange{{First: 0, Last: 0}}}
			r.Own = []*INTRules{&own}
		},
		"watches by link": func(r *Rules) { sample(r, 3); r.Watches[0].Ingress, r.Watches[4].Ingress = []uint16{2}, []uint16{0, 1} },
		"flows by what is inside": func(r *Rules) {
			sample(r, 3)
			r.InnerKeys = true
			r.Watches[0].Layer = watch.OuterLayer
		},
		"tap":            func(r *Rules) { sample(r, 5) },
		"long fragments": func(r *Rules) { r.Report.Fragment = 1200 },
		"checksums kept": func(r *Rules) { sample(r, 3); r.INT.KeepChecksum = true },
		"no Destination": func(r *Rules) { sample(r, 3); r.INT.Ignored[inthdr.Destination] = true },
	}
}

func sameTheLongWay(t *testing.T, tap, portable bool, nested [][]byte, change func(*Rules)) {
	b, long, r := newLinksBed(t, tap, change), newLinksBed(t, tap, change), rand.New(rand.NewPCG(3, 9))
	if portable {
		b.burst.Fast.Portable()
	}
	for n := range rounds.Of(200, 8) {
		x := newRound(t, r, tap, nested)
		if n%6 == 0 {
			x.rules = uint64(n) + 1
		}
		b.live(&x)
		long.forget()
		long.live(&x)
		b.sameAs(t, long)
		if n%10 == 0 {
			got, want := b.flows(), long.flows()
			for i := range min(len(got), len(want)) {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("round %d: flow %d is\n%+v, the long way\n%+v", n, i, *got[i], *want[i])
				}
			}
		}
	}
	if d := b.counters.Links[1].Mitigation; !rounds.Race && (d.Dropped[mitigate.Drop]+d.Dropped[mitigate.Police] < 100 || d.Passed[mitigate.Count] < 100) {
		t.Errorf("rules of mitigation: %+v: want some of each", d)
	}
	c, least := b.counters.Links[1], uint64(rounds.Of(1000, 10))
	if c.INT[inthdr.MD] < least || c.ToNetwork.Leaked < least ||
		!rounds.Race && (c.Direction[burst.ToHost].Dropped[burst.DropTxFull] == 0 || c.Direction[burst.ToNetwork].Dropped[burst.DropTxFull] == 0) {
		t.Errorf("counters %+v: want some of each", c)
	}
	for _, b := range []*linksBed{b, long} {
		b.Close()
		b.handedOver()
		b.balance()
	}
}
