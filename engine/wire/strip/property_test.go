package strip_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// locators are one configuration per marking of engine/wire/intgen, for INT behind and
// before TCP options.
func locators(before bool) map[intgen.Marking]*inthdr.Locator {
	port, gre, marker := uint16(5000), uint16(0x88b6), uint64(0x0102030405060708)
	configs := map[intgen.Marking]inthdr.Config{
		intgen.ByPort:        {UDPPort: &port},
		intgen.ByNewUDP:      {UDPPort: &port},
		intgen.ByDSCP:        {DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}},
		intgen.ByProbeMarker: {ProbeMarker: &marker},
		intgen.ByGRE:         {GREProtocol: &gre},
		intgen.ByVXLANGPE:    {VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}},
		intgen.ByGeneve:      {Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}},
	}
	all := map[intgen.Marking]*inthdr.Locator{}
	for m, c := range configs {
		c.Version2, c.BeforeOptions = true, before
		all[m] = inthdr.NewLocator(c)
	}
	return all
}

// TestStripUndoesInsert: strip(insert(p)) == p for random packets, every
// encapsulation and header type, 0 to 12 hops and random instruction bitmaps; the
// same where the packet stands in a tunnel; and not a byte outside the frame is
// touched.
func TestStripUndoesInsert(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := map[bool]map[intgen.Marking]*inthdr.Locator{false: locators(false), true: locators(true)}
	inserted := 0
	for n := range cases {
		orig, s, hops := intgen.Random(r)
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue // longer than a Length field can say
		}
		inserted++
		if n%4 == 0 {
			orig, marked = tunnelled(r, s, orig, marked)
		}
		got, i := stripped(t, all[s.BeforeOptions][s.Marking], marked, r.IntN(40))
		if got == nil || !bytes.Equal(got, orig) {
			t.Fatalf("case %d, %+v, %d hops, reason %v:\noriginal %x\nwith INT %x\nstripped %x", n, s, len(hops), i.Reason, orig, marked, got)
		}
		if s.Type == intgen.TypeMD && s.DomainID == 0 && s.Bitmap != 0 && len(s.SourceOnly) == 0 && s.DomainPerHop == 0 && int(i.Hops) != len(hops) {
			t.Fatalf("case %d, %+v: %d hops found, want %d (reason %v)", n, s, i.Hops, len(hops), i.Reason)
		}
	}
	if inserted < cases*9/10 {
		t.Errorf("only %d of %d packets took an insertion", inserted, cases)
	}
}

// TestStripUndoesInsertOfOldFormats: the same for INT 1.0 and June 2016.
func TestStripUndoesInsertOfOldFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 20))
	inserted := map[intgen.Format]int{}
	for n := range cases / 10 {
		orig, s, hops := intgen.Random(r)
		s.Format = intgen.Format1
		if n%2 == 0 {
			s.Format = intgen.Format2016
		}
		s.Type, s.GPENextProtocol, s.FromVXLAN, s.Reserved = intgen.TypeMD, 0, false, s.Reserved&0x1f
		s.DomainID, s.DSInstruction, s.DSFlags, s.DomainPerHop, s.SourceOnly = 0, 0, 0, 0, nil
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue // a marking or a bitmap that this format lacks
		}
		inserted[s.Format]++
		got, i := stripped(t, oldLocators(s), marked, r.IntN(40))
		if got == nil || !bytes.Equal(got, orig) || i.Reason != 0 || s.Bitmap != 0 && int(i.Hops) != len(hops) {
			t.Fatalf("case %d, %+v, %d hops; %d found, reason %v:\noriginal %x\nwith INT %x\nstripped %x", n, s, len(hops), i.Hops, i.Reason, orig, marked, got)
		}
	}
	for f, n := range inserted {
		if n < cases/100 {
			t.Errorf("format %d: only %d insertions", f, n)
		}
	}
}

// oldLocators takes 1.0 or 2016 alone.
func oldLocators(s *intgen.Source) *inthdr.Locator {
	marker := uint64(0x0102030405060708)
	c := inthdr.Config{Version1: s.Format == intgen.Format1, Version0: s.Format == intgen.Format2016, BeforeOptions: s.BeforeOptions}
	switch s.Marking {
	case intgen.ByDSCP:
		c.DSCP = []inthdr.DSCP{{Value: 23, Mask: 63}}
	case intgen.ByProbeMarker:
		c.ProbeMarker = &marker
	case intgen.ByVXLANGPE:
		c.VXLANGPE = &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}
	case intgen.ByGeneve:
		c.Geneve = &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}
	}
	return inthdr.NewLocator(c)
}

// tunnelled puts a packet as it was and as it is with INT into the same tunnel. A
// source puts no tunnel of its own into one.
func tunnelled(r *rand.Rand, s *intgen.Source, orig, marked []byte) (a, b []byte) {
	if s.Marking == intgen.ByGRE && s.GREInserted || s.IOAM.Tunnel {
		return orig, marked
	}
	tunnel := intgen.RandomTunnel(r)
	a, errA := tunnel.Wrap(orig)
	b, errB := tunnel.Wrap(marked)
	if errA != nil || errB != nil {
		return orig, marked
	}
	return a, b
}

// stripped runs parse, locate and strip on frame between canaries, behind
// trailing bytes of Ethernet padding.
func stripped(t *testing.T, p *inthdr.Locator, frame []byte, padding int) ([]byte, inthdr.Info) {
	const canary = 0xa5
	buf := bytes.Repeat([]byte{canary}, 64+len(frame)+padding+64)
	b := buf[64 : 64+len(frame)+padding : 64+len(frame)+padding]
	copy(b, frame)
	var l packet.Layers
	var i inthdr.Info
	var o inthdr.Outers
	if packet.Parse(b, len(b), &l) != packet.OK || p.Find(b, &l, &i, &o) != inthdr.Sound {
		return nil, i
	}
	head := strip.Strip(b, &l, &i, &o)
	for n, v := range buf {
		if (n < 64 || n >= 64+len(frame)) && v != canary {
			t.Fatalf("byte %d outside the packet was written", n-64)
		}
	}
	return b[head : len(b)-padding], i
}

// FuzzStrip: whatever arrives, nothing outside the frame is touched, unsound
// packets not at all, and sound ones lose exactly what their shim says.
func FuzzStrip(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		orig, s, hops := intgen.Random(r)
		if b, err := s.Insert(orig, hops); err == nil {
			f.Add(b, uint8(s.Marking))
			marked := bytes.Clone(b)
			marked[15] |= 3 // CE, where that is IPv4
			f.Add(marked, uint8(s.Marking))
		}
	}
	all := locators(false)
	f.Fuzz(func(t *testing.T, frame []byte, m uint8) {
		b := bytes.Clone(frame)
		var l packet.Layers
		var i inthdr.Info
		if packet.Parse(b, len(b), &l) != packet.OK {
			return
		}
		var o inthdr.Outers
		if all[intgen.Marking(m%7)].Find(b, &l, &i, &o) != inthdr.Sound {
			if !bytes.Equal(b, frame) {
				t.Fatal("a packet that is no INT was changed")
			}
			return
		}
		if int(i.Stack)+int(i.StackLen) > int(i.End) || i.Type == inthdr.MD && int(i.Hops)*int(i.HopLen) != int(i.StackLen) {
			t.Fatalf("stack beyond its INT: %+v", i)
		}
		head := strip.Strip(b, &l, &i, &o)
		changed := differing(b[i.End:], frame[i.End:])
		if i.Edit&(inthdr.SetECT1|inthdr.SetCE) != 0 && changed <= 3 { // ECN and the header checksum of IPv4
			changed = 0
		}
		if head != int(i.Removed) || head > int(i.End-i.Start) || changed != 0 {
			t.Fatalf("%d bytes went, INT has %d; or the payload changed", head, i.End-i.Start)
		}
	})
}

// differing returns in how many bytes a and b differ; both have the same length.
func differing(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
