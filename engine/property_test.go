package engine

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/flows"

	"intsink/internal/rounds"
)

// TestStripGivesBack: what intgen inserts, the sink takes out again to the byte, of random packets
// of every marking, with tags, options, extension headers and tunnels; and nearly all of them by
// the templates of package fast. PACKETS=10000000 (make property) asks for more of them.
func TestStripGivesBack(t *testing.T) {
	total := 70_000
	if n, err := strconv.Atoi(os.Getenv("PACKETS")); err == nil {
		total = n
	}
	batch := rounds.Of(10_000, 10)
	total = rounds.Of(total, 10)
	g := giveBack{bed: newBed(t, nil)}
	for n := 0; n < total; n += batch {
		m := intgen.Marking(n / batch % (int(intgen.ByGeneve) + 1))
		r := rand.New(rand.NewPCG(uint64(n), 1))
		g.begin(m)
		sources := g.sources(r, m, 12)
		g.begin(m)
		for range batch / mbuf.MaxBurst {
			g.burst(r, sources)
		}
		if t.Failed() {
			t.Fatalf("marking %d, from packet %d on", m, n)
		}
	}
	t.Logf("%d packets: %d by a template, %d of these passed without a look at their events", g.packets, g.packets-g.parsed, g.passed)
	// The first packets of a flow are parsed: of few packets, more are.
	if part := rounds.Of(20, 3); g.parsed > g.packets/part || g.passed < g.packets*3/4 {
		t.Errorf("of %d packets %d were parsed and %d passed, want at most one in %d and at least three quarters", g.packets, g.parsed, g.passed, part)
	}
}

// giveBack is a worker that gets packets of some sources.
type giveBack struct {
	*bed
	packets, parsed, passed int
}

// source is a flow: its original packet, and who adds INT to it.
type source struct {
	orig []byte
	s    *intgen.Source
	hops []intgen.Hop
}

// begin makes a worker that looks for INT by one marking or those that do not exclude it.
func (g *giveBack) begin(m intgen.Marking) {
	g.sealed()
	g.remake(func(c *WorkerConfig) {
		c.Rules.INT = everyMarking()
		c.Rules.INT.Domains, c.Rules.INT.Version1, c.Rules.INT.Version0 = nil, true, true
		if marker := uint64(0x0102030405060708); m == intgen.ByProbeMarker {
			c.Rules.INT.ProbeMarker = &marker
		}
		if m == intgen.ByDSCP {
			c.Rules.INT.DSCP = []inthdr.DSCP{{Value: 23, Mask: 63}}
		}
		c.Flows = flows.Config{Capacity: 1024, Seed: 7, IdleTimeout: 30e9}
	})
}

// sources are n flows of random headers. Of twelve, eleven are such as have a template: a whole
// packet of TCP or UDP at the end of all headers, as nearly all of a network are.
func (g *giveBack) sources(r *rand.Rand, m intgen.Marking, n int) (all []*source) {
	for len(all) < n {
		orig, s, hops := intgen.Random(r)
		s.Type, s.ThenDestination, s.DomainID, s.DSInstruction, s.SourceOnly, s.DomainPerHop = intgen.TypeMD, false, 0, 0, nil, 0
		s.Bitmap, s.Discard, s.HopExceeded, s.MTUExceeded = []uint16{0xf100, 0xe000, 0xfd00}[r.IntN(3)], false, false, false
		older(r, s, len(hops))
		x := &source{orig, s, hops}
		f, err := s.Insert(orig, hops)
		if s.Marking != m || s.BeforeOptions || err != nil || len(f) > 1800 {
			continue
		}
		if len(all)%12 == 0 || g.hasTemplate(r, x) {
			all = append(all, x)
		}
	}
	return all
}

// older makes some sources such of INT 1.0 or of June 2016, where there is such a marking.
func older(r *rand.Rand, s *intgen.Source, hops int) {
	l4 := s.Marking == intgen.ByDSCP || s.Marking == intgen.ByProbeMarker
	tunnel := s.Marking == intgen.ByVXLANGPE && !s.FromVXLAN || s.Marking == intgen.ByGeneve
	if s.ThenDestination || !l4 && !tunnel || r.IntN(3) > 0 {
		return
	}
	if s.Format = intgen.Format1; tunnel && r.IntN(2) == 0 {
		s.Format = intgen.Format2016
	}
	s.Bitmap &= 0xfc00 // utilization has another bit, or none
	s.GPENextProtocol, s.BeforeOptions, s.Reserved, s.MaxHops = 0, false, 0, hops+5
}

// hasTemplate tells whether the worker makes a template of the first packet of x. It forgets all
// others before: it would make one of few packets only, once it has seen many.
func (g *giveBack) hasTemplate(r *rand.Rand, x *source) bool {
	g.Worker.burst.Fast.Configure(inthdr.NewLocator(g.rules.INT).Marks())
	for range 2 {
		_, frame := x.next(g.t, r)
		g.network.RX = append(g.network.RX[:0], frame)
		g.Poll()
	}
	return g.Worker.burst.Fast.Unknown == 0
}

// next is another packet of the flow, with values that differ from the last one's: mostly by
// little, so that no event fires.
func (x *source) next(t testing.TB, r *rand.Rand) (orig, frame []byte) {
	orig = bytes.Clone(x.orig)
	if n := len(orig); n > 400 { // payload of any headers, whose checksum need not be right
		binary.BigEndian.PutUint64(orig[n-9:], r.Uint64())
	}
	for i := range x.hops {
		h := &x.hops[i]
		h.LatencyNs, h.QueueOccupancy, h.TxUtilization = 20_000+uint32(r.IntN(100)), uint32(r.IntN(1<<24)), r.Uint32()
		h.IngressTimestamp, h.EgressTimestamp = r.Uint64(), r.Uint64()
		if r.IntN(20_000) == 0 {
			h.LatencyNs = r.Uint32()
		}
	}
	frame, err := x.s.Insert(orig, x.hops)
	if err != nil {
		t.Fatal(err)
	}
	return orig, frame
}

func (g *giveBack) burst(r *rand.Rand, sources []*source) {
	var origs [mbuf.MaxBurst][]byte
	g.network.RX = g.network.RX[:0]
	for i := range origs {
		orig, frame := sources[r.IntN(len(sources))].next(g.t, r)
		origs[i] = orig
		g.network.RX = append(g.network.RX, frame)
	}
	g.host.TX = g.host.TX[:0]
	g.step(r.Int64N(100_000))
	g.Poll()
	g.sealed()
	g.packets += len(origs)
	g.parsed += bits.OnesCount64(g.Worker.burst.Fast.Unknown)
	g.passed += g.Worker.burst.Fast.Len() - len(g.Worker.burst.Fast.Deferred())
	if len(g.host.TX) != len(origs) {
		g.t.Errorf("%d of %d packets leave", len(g.host.TX), len(origs))
		return
	}
	for i, got := range g.host.TX {
		if !bytes.Equal(got, origs[i]) {
			g.t.Errorf("packet %d leaves as\n%x\nand was\n%x", g.packets-len(origs)+i, got, origs[i])
			return
		}
	}
}
