package inthdr

import (
	"slices"
	"testing"
)

func sequenceDomain(length uint16, sourceOnly bool) Domain {
	d := Domain{ID: 7}
	d.Bits[0].Length, d.Bits[0].SourceOnly = 4, sourceOnly
	d.Bits[2].Length, d.Bits[2].SourceOnly, d.Bits[2].Role = length, sourceOnly, Sequence
	return d
}

func TestSequence(t *testing.T) {
	bitmap := uint16(BitNodeID | BitHopLatency)
	hops := []byte{
		0, 0, 0, 2, 0, 0, 0, 9, 0xa, 0xa, 0xa, 0xa, 0, 0, 0, 8, // newer: node, latency, instructions 0 and 2
		0, 0, 0, 1, 0, 0, 0, 9, 0xb, 0xb, 0xb, 0xb, 0, 0, 0x12, 0x34,
	}
	complemented := slices.Concat(hops[:16], []byte{0xff, 0xff, 0xff, 0xff}, hops[16:], []byte{0xff, 0xff, 0xff, 0xff})
	source := []byte{0xc, 0xc, 0xc, 0xc, 0, 0, 0, 1, 0, 0, 0, 2}
	for name, c := range map[string]struct {
		domain      Domain
		frame       []byte
		instruction uint16
		info        Info
		number      uint64
		bits        uint8
	}{
		"per hop: the source's": {sequenceDomain(4, false), hops, 0xa000, Info{StackLen: 32, HopLen: 16, Hops: 2}, 0x1234, 32},
		"per hop, complement":   {sequenceDomain(4, false), complemented, 0xa000, Info{StackLen: 40, HopLen: 20, Hops: 2, Bitmap: BitChecksumComplement}, 0x1234, 32},
		"source-only":           {sequenceDomain(8, true), source, 0xa000, Info{SourceLen: 12}, 1<<32 | 2, 64},
		"not asked for":         {sequenceDomain(8, true), source, 0x8000, Info{SourceLen: 4}, 0, 0},
		"asked for, not added":  {sequenceDomain(8, true), source, 0xa000, Info{}, 0, 0},
		"contents not sound":    {sequenceDomain(8, true), source, 0xa000, Info{SourceLen: 12, Reason: ReasonStack}, 0, 0},
		"other domain":          {Domain{ID: 8}, source, 0xa000, Info{SourceLen: 12}, 0, 0},
	} {
		i := c.info
		i.Type, i.Bitmap, i.DomainID, i.DSInstruction = MD, bitmap|i.Bitmap, 7, c.instruction
		number, bits := NewLocator(Config{Domains: []Domain{c.domain}}).Sequence(c.frame, &i)
		if number != c.number || bits != c.bits {
			t.Errorf("%s: %#x of %d bits, want %#x of %d", name, number, bits, c.number, c.bits)
		}
	}
}

// TestIPHopsOfTheSameHeader: the source's TTL is that of the header that INT stands behind; one that is around a tunnel,
// or that the source itself made, counts from elsewhere.
func TestIPHopsOfTheSameHeader(t *testing.T) {
	d := Domain{ID: 7}
	d.Bits[0].Length, d.Bits[0].SourceOnly, d.Bits[0].Role = 8, true, TTL
	l := NewLocator(Config{Domains: []Domain{d}})
	ip := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 60, 17}
	for _, c := range []struct {
		name   string
		source []byte
		info   Info
		want   uint8
		known  bool
	}{
		{"UDP", []byte{0, 0, 0, 0, 0, 0, 0, 64}, Info{}, 4, true},
		{"the highest", []byte{0, 0, 0, 0, 0, 0, 0, 255}, Info{}, 195, true},
		{"none passed", []byte{0, 0, 0, 0, 0, 0, 0, 60}, Info{}, 0, true},
		{"no TTL", []byte{0, 0, 0, 1, 0, 0, 0, 64}, Info{}, 0, false},
		{"in a tunnel", []byte{0, 0, 0, 0, 0, 0, 0, 64}, Info{Depth: 1}, 0, false},
		{"in GRE of the packet's own", []byte{0, 0, 0, 0, 0, 0, 0, 64}, Info{Marking: ByGRE}, 4, true},
		{"in GRE of the source", []byte{0, 0, 0, 0, 0, 0, 0, 64}, Info{Marking: ByGRE, Inserted: true}, 0, false},
	} {
		i := c.info
		i.Type, i.DomainID, i.DSInstruction, i.Stack, i.SourceLen = MD, 7, 0x8000, uint16(len(ip)), 8
		if got, known := l.IPHops(slices.Concat(ip, c.source), 0, &i); got != c.want || known != c.known {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, known, c.want, c.known)
		}
	}
}
