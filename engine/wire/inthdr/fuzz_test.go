package inthdr_test

import (
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// FuzzLocate: of whatever arrives in one segment or the first of several, what
// is called sound lies within the packet and the segment, part within part.
func FuzzLocate(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for hops := range 4 {
		f.Add(marked(f, r, hops, 10), uint16(0))
	}
	port, marker := uint16(intPort), uint64(0x1122334455667788)
	configs := []inthdr.Config{
		{UDPPort: &port, Version2: true},
		{DSCP: []inthdr.DSCP{{Value: 1, Mask: 1}}, Version2: true, BeforeOptions: true},
		{ProbeMarker: &marker, Version2: true, Fragments: true},
		{UDPPort: &port, Version2: true, ShimInclusive: true, KeepChecksum: true},
		{DSCP: []inthdr.DSCP{{Value: 1, Mask: 1}}, Version1: true, Version2: true, GEANT: true},
	}
	f.Fuzz(func(t *testing.T, b []byte, more uint16) {
		b = b[:len(b):len(b)]
		pktLen := len(b) + int(more)
		for _, c := range configs {
			p := inthdr.NewLocator(c)
			var l packet.Layers
			var i inthdr.Info
			if packet.Parse(b, pktLen, &l) != packet.OK || p.Locate(b, &l, &i) != inthdr.Sound {
				continue
			}
			if i.Start >= i.End || int(i.End) > len(b) || i.End > l.End || i.Start < l.L4 || i.Shim < i.Start {
				t.Fatalf("INT [%d,%d), shim at %d, of %d bytes: %+v", i.Start, i.End, i.Shim, len(b), l)
			}
			header := i.Shim + 16
			if i.Format != inthdr.Format2 {
				header = i.Shim + 12
			}
			if i.StackLen > 0 && (i.Stack < header || i.Stack+i.StackLen+i.SourceLen != i.End) || i.HopLen*i.Hops != i.StackLen {
				t.Fatalf("stack of %d hops of %d bytes at %d, source-only %d, INT ends at %d", i.Hops, i.HopLen, i.Stack, i.SourceLen, i.End)
			}
		}
	})
}
