package inthdr_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"intsink/engine/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// shapeLocators are differently configured ones, with what their packets are marked by.
func shapeLocators() map[intgen.Marking][]*inthdr.Locator {
	port, marker := uint16(5000), uint64(0x0102030405060708)
	byPort := inthdr.Config{UDPPort: &port, Version2: true, Version1: true}
	byDSCP := inthdr.Config{DSCP: &inthdr.DSCP{Value: 23, Mask: 63}, Version2: true, Version1: true}
	loosely := inthdr.Config{DSCP: &inthdr.DSCP{Value: 16, Mask: 0x30}, UDPPort: &port, Version2: true}
	byProbe := inthdr.Config{ProbeMarker: &marker, Version2: true}
	before := byDSCP
	before.BeforeOptions = true
	return map[intgen.Marking][]*inthdr.Locator{
		intgen.ByPort:        {inthdr.NewLocator(byPort), inthdr.NewLocator(loosely)},
		intgen.ByDSCP:        {inthdr.NewLocator(byDSCP), inthdr.NewLocator(loosely), inthdr.NewLocator(before)},
		intgen.ByProbeMarker: {inthdr.NewLocator(byProbe)},
	}
}

// TestAgainIsParseAndFind: of packets of every marking, changed in any byte of their
// headers and cut anywhere, Match either says nothing or exactly what Parse and Find
// say.
func TestAgainIsParseAndFind(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	all, answered := shapeLocators(), map[intgen.Marking]int{}
	for answered[intgen.ByPort] < 50_000 || answered[intgen.ByProbeMarker] < 10_000 {
		orig, s, hops := intgen.Random(r)
		locators := all[s.Marking]
		if locators == nil {
			continue
		}
		first, err := s.Insert(orig, hops)
		if err != nil {
			continue
		}
		p := locators[r.IntN(len(locators))]
		for range 30 {
			if againOnce(t, p, changed(r, first), r.IntN(8)*r.IntN(20)) {
				answered[s.Marking]++
			}
		}
	}
	for m := range all {
		if answered[m] < 10_000 {
			t.Errorf("marking %v: answered for %d packets only", m, answered[m])
		}
	}
}

// changed is a copy of b with some bits of its headers flipped, sometimes cut.
func changed(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range r.IntN(4) {
		b[r.IntN(min(len(b), 150))] ^= 1 << r.IntN(8)
	}
	if r.IntN(6) == 0 {
		b = b[:r.IntN(len(b)+1)]
	}
	return b[:len(b):len(b)]
}

// againOnce tells whether Match answered for b, of a packet that is more bytes longer.
func againOnce(t *testing.T, p *inthdr.Locator, b []byte, more int) bool {
	t.Helper()
	var l, wantL packet.Layers
	var i, wantI inthdr.Info
	var o inthdr.Outers
	pktLen := len(b) + more
	again := p.Match(b, pktLen, &l, &i)
	parsed := packet.Parse(b, pktLen, &wantL)
	result := inthdr.NotINT
	if parsed == packet.OK {
		if result = p.Find(b, &wantL, &wantI, &o); result == inthdr.Sound {
			p.Store(b, &wantL, &wantI)
			p.Classify(&wantI)
		}
	}
	if again && (result != inthdr.Sound || l != wantL || i != wantI) {
		t.Fatalf("%x\nagain %+v %+v\nfound %+v %+v (%v, %v)", b, l, i, wantL, wantI, parsed, result)
	}
	return again
}
