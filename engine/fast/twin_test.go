package fast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// anyMarking takes INT by all markings but those that would keep others from having templates.
func anyMarking(m intgen.Marking, before bool) inthdr.Config {
	port, gre, marker := uint16(5000), uint16(0x88b6), uint64(0x0102030405060708)
	c := inthdr.Config{
		UDPPort: &port, GREProtocol: &gre, VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82},
		Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}, Version2: true, BeforeOptions: before,
	}
	numbered := inthdr.Domain{ID: numberedDomain}
	numbered.Bits[0].Length, numbered.Bits[0].SourceOnly, numbered.Bits[0].Role = 4, true, inthdr.Sequence
	c.Domains = []inthdr.Domain{numbered}
	c.Version1, c.Version0 = true, true
	switch m {
	case intgen.ByDSCP:
		c.DSCP = []inthdr.DSCP{{Value: 23, Mask: 63}}
	case intgen.ByProbeMarker:
		c.ProbeMarker = &marker
	case intgen.ByIFA:
		c.IFA = &ifa.Config{Protocols: []uint8{253}, MaxResidence: 1e9}
	}
	return c
}

// numberedDomain is that of sources that number their packets.
const numberedDomain = 0x5453

// everyEvent are two watches: one of all events, one of few.
func everyEvent() []event.Policy {
	band := event.Deadband{Absolute: 10_000, Relative: 0.1, K: 2, N: 4, Interval: 1e6}
	all := event.Policy{Events: 1<<event.NumEvents - 1, Sample: 5, Thresholds: event.Thresholds{
		NewFlowRate: 20000, Paths: 4, PathMemory: 60e9, PathRate: 10, Latency: band, EndToEnd: band, LinkLatency: band,
		CongestionRaise: 5000, CongestionClear: 100, CongestionQuota: 10, CongestionTimeout: 1e9, TxRaise: 90, TxClear: 70, TxHold: 1e9,
		RefreshEvery: 2e9, RefreshJitter: 0.2, LossWindow: 64, LossTimeout: 5e6, LossInterval: 1e6,
	}}
	few := event.Policy{Events: event.NewFlow.Set() | event.PathChange.Set(), Sample: 3, SampleByFlow: true, Thresholds: all.Thresholds}
	ptp := all
	ptp.Thresholds.PTP, ptp.Sample = true, 0
	return []event.Policy{all, few, ptp}
}

// source makes packets of one flow.
type source struct {
	orig   []byte
	s      *intgen.Source
	hops   []intgen.Hop
	number uint32 // of the last packet, where the source numbers them
	noisy  bool   // latencies are around the deadband more often
}

func newSources(r *rand.Rand, n int, m intgen.Marking) (all []*source) {
	for len(all) < n {
		orig, s, hops := intgen.Random(r)
		if m == intgen.ByIFA && r.IntN(4) > 0 {
			orig, s, hops = intgen.RandomIFA(r)
		}
		if s.Marking != intgen.ByIFA && r.IntN(4) > 0 {
			s.Type, s.ThenDestination, s.DomainID, s.DSInstruction, s.SourceOnly, s.DomainPerHop = intgen.TypeMD, false, 0, 0, nil, 0
			s.Bitmap, s.Discard, s.HopExceeded, s.MTUExceeded = []uint16{0xf100, 0xe000, 0xfd00}[r.IntN(3)], false, false, false
			switch r.IntN(4) {
			case 0:
				s.DomainID, s.DSInstruction, s.SourceOnly = numberedDomain, 1<<15, make([]byte, 4)
			case 1:
				if r.IntN(2) == 0 {
					s.Type, hops = intgen.TypeMX, nil
				}
			}
		}
		older(r, s, len(hops))
		// A DSCP or a marker that is looked for concerns all packets: those have worlds of their own.
		if special := s.Marking == intgen.ByDSCP || s.Marking == intgen.ByProbeMarker; special && s.Marking != m || len(orig) > 1200 {
			continue
		}
		if f, err := s.Insert(orig, hops); err != nil || len(f) > 3000 {
			continue
		}
		all = append(all, &source{orig: orig, s: s, hops: hops, number: math.MaxUint32 - uint32(r.IntN(50))})
	}
	return all
}

// older makes some sources such of INT 1.0 or of June 2016, where there is such a marking.
func older(r *rand.Rand, s *intgen.Source, hops int) {
	l4 := s.Marking == intgen.ByDSCP || s.Marking == intgen.ByProbeMarker
	tunnel := s.Marking == intgen.ByVXLANGPE && !s.FromVXLAN || s.Marking == intgen.ByGeneve
	if s.Type != intgen.TypeMD || s.DomainID != 0 || s.ThenDestination || !l4 && !tunnel || r.IntN(3) > 0 {
		return
	}
	if s.Format = intgen.Format1; tunnel && r.IntN(2) == 0 {
		s.Format = intgen.Format2016
	}
	if s.Bitmap == 0xfd00 {
		s.Bitmap = 0xfc00 // timestamps, no utilization
	}
	s.GPENextProtocol, s.BeforeOptions, s.Reserved, s.MaxHops = 0, false, 0, hops+5
}

// next is a packet, with values that differ from the last one's: mostly by little.
func (x *source) next(t *testing.T, r *rand.Rand, now int64) []byte {
	for i := range x.hops {
		h := &x.hops[i]
		h.LatencyNs, h.QueueOccupancy, h.TxUtilization = 20_000+uint32(r.IntN(100)), uint32(r.IntN(50)), uint32(r.IntN(60))
		h.IngressTimestamp, h.EgressTimestamp = uint64(now)-uint64(1000*(i+1)), uint64(now)-uint64(1000*(i+1)-900)
		if x.noisy && r.IntN(30) == 0 {
			h.LatencyNs += 10_000 + uint32(r.IntN(2))*5000
		}
		switch r.IntN(400) {
		case 0:
			h.LatencyNs = 1e6
		case 1:
			h.QueueOccupancy = 6000
		case 2:
			h.TxUtilization = 95
		case 3:
			h.IngressTimestamp += 50_000
		case 4:
			h.LatencyNs, h.QueueOccupancy, h.TxUtilization = 0xffffffff, 0xffffff, 0xffffffff
		case 5, 6, 7, 8, 9, 10: // around thresholds
			h.LatencyNs += []uint32{9_900, 10_000, 10_001, 10_100}[r.IntN(4)]
		case 11, 12:
			h.QueueOccupancy = []uint32{4999, 5000, 1666, 1667}[r.IntN(4)]
		case 13:
			h.TxUtilization = []uint32{89, 90}[r.IntN(2)]
		}
	}
	if x.s.DomainID == numberedDomain && x.s.DSInstruction == 1<<15 && len(x.s.SourceOnly) == 4 {
		switch x.number++; r.IntN(40) {
		case 0:
			x.number += uint32(r.IntN(4))
		case 1:
			x.number -= 2
		}
		binary.BigEndian.PutUint32(x.s.SourceOnly, x.number)
	}
	f, err := x.s.Insert(x.orig, x.hops)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// hostile makes a frame one that nobody meant: bits flipped, cut, longer, or in two segments.
func hostile(r *rand.Rand, f []byte) (frame []byte, pktLen int) {
	f = bytes.Clone(f)
	switch r.IntN(5) {
	case 0:
		f[r.IntN(len(f))] ^= 1 << r.IntN(8)
	case 1:
		f[r.IntN(min(len(f), 120))] = byte(r.Uint32())
	case 2:
		return f[:1+r.IntN(len(f))], len(f)
	case 3:
		f = f[:1+r.IntN(len(f))]
	case 4:
		f = append(f, make([]byte, r.IntN(20))...)
	}
	return f, len(f)
}

// TestTwins: C and Go do the same to the byte with random and hostile bursts of every shape,
// whose packets end where memory ends; and INT is gone from packets that were not damaged.
func TestTwins(t *testing.T) {
	for m := intgen.Marking(0); m <= intgen.ByIFA; m++ {
		t.Run(fmt.Sprint("marking ", m), func(t *testing.T) {
			passed, stored := 0, 0
			for seed := range uint64(8) {
				p, s := twins(t, m, anything, seed)
				passed, stored = passed+p, stored+s
			}
			unwatched := 0
			for seed := range uint64(6) {
				p, _ := twins(t, m, nothing, seed)
				unwatched += p
			}
			if unwatched < 50 {
				t.Errorf("%d packets were passed where no watch is", unwatched)
			}
			for seed := range uint64(4) {
				for _, asked := range []asked{thresholds, latencies} {
					p, s := twins(t, m, asked, seed)
					passed, stored = passed+p, stored+s
				}
			}
			if passed < 4000 || stored < 40 {
				t.Errorf("%d packets were passed, %d templates made: the test says little", passed, stored)
			}
		})
	}
}

// asked is what a world's watches ask for: with sequence numbers, facts and units of nodes, with
// thresholds alone, with paths and latencies alone. Package fast has a loop for each.
type asked int

const (
	anything asked = iota
	thresholds
	latencies
	nothing // there is no watch
)

// latencyEvents are two watches of paths and latencies, with narrow deadbands.
func latencyEvents() []event.Policy {
	all := everyEvent()[:2]
	for i := range all {
		all[i].Events = event.NewFlow.Set() | event.PathChange.Set() | event.HopLatency.Set() | event.EndToEnd.Set() | event.Refresh.Set()
	}
	return all
}

// twins takes the same packets through a world in C and one in Go, and tells how many were passed, how many
// templates were made.
func twins(t *testing.T, m intgen.Marking, asked asked, seed uint64) (passed, stored int) {
	r := rand.New(rand.NewPCG(seed, uint64(m)))
	c, policies := anyMarking(m, seed%2 == 0), everyEvent()
	asks, models := uint8(seed*5%16), [][]event.NodeModel{nil, nil, {{LatencyUnit: 2, QueueUnit: 3, TxFull: 120}},
		{{Nodes: []event.NodeRange{{First: 0, Last: 99}}, LatencyUnit: 3, QueueUnit: 2, TxFull: 80}}}[seed%4]
	if asked != anything {
		c.Domains, asks, models = nil, 0, nil
	}
	if asked == latencies {
		policies = latencyEvents()
	}
	a, b := newWorld(t, c, policies, false), newWorld(t, c, policies, true)
	for _, w := range []*world{a, b} {
		w.asks, w.unwatched = Facts{Asks: asks, Key: 0x9e3779b97f4a7c15}, asked == nothing
		w.detector.SetRules(policies, models)
	}
	sources := newSources(r, 4+r.IntN(24), m)
	for _, x := range sources {
		x.noisy = asked != anything
		if asked != anything && x.s.DomainID == numberedDomain {
			x.s.DomainID, x.s.DSInstruction, x.s.SourceOnly = 0, 0, nil
		}
	}
	now, most := int64(1e18), mbuf.MaxBurst
	if asked == nothing {
		most = 4 // one packet that is not sound, and none of the burst is passed
	}
	for n := range 120 {
		now += r.Int64N(1e6)
		frames, lens := make([][]byte, 1+r.IntN(most)), make([]int, mbuf.MaxBurst)
		origs := make([][]byte, len(frames))
		x, row := sources[0], []int{1, 9, 33}[n%3] // how many packets in a row are of one source
		for i := range frames {
			if r.IntN(row) == 0 {
				x = sources[r.IntN(len(sources))]
			}
			frames[i] = x.next(t, r, now)
			lens[i] = len(frames[i])
			if r.IntN(12) == 0 {
				frames[i], lens[i] = hostile(r, frames[i])
			} else if x.s.Marking == m && !x.s.Discard {
				origs[i] = x.orig
			}
		}
		look := uint8(max(r.IntN(1280)-1216, 0)) // one burst in twenty
		a.burst(now, frames, lens, look)
		b.burst(now, frames, lens, look)
		if what := a.compare(b, len(frames)); what != "" {
			t.Fatalf("seed %d, burst %d: %s differs", seed, n, what)
		}
		for j := range a.ints {
			if i := a.At[j]; origs[i] != nil && !bytes.Equal(a.vec[i].Bytes(), origs[i]) {
				t.Fatalf("seed %d, burst %d: packet %d\nleaves as %x\nand was    %x", seed, n, i, a.vec[i].Bytes(), origs[i])
			}
		}
		a.detector.Sweep(now)
		b.detector.Sweep(now)
	}
	return a.passed, a.stored
}
