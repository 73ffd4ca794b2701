package strip_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/bench/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/strip"
)

// locators are one configuration per marking of bench/intgen.
func locators() map[intgen.Marking]*inthdr.Locator {
	port, marker := uint16(5000), uint64(0x0102030405060708)
	byPort := inthdr.Config{UDPPort: &port, Version2: true}
	return map[intgen.Marking]*inthdr.Locator{
		intgen.ByPort:        inthdr.NewLocator(byPort),
		intgen.ByNewUDP:      inthdr.NewLocator(byPort),
		intgen.ByDSCP:        inthdr.NewLocator(inthdr.Config{DSCP: &inthdr.DSCP{Value: 23, Mask: 63}, Version2: true}),
		intgen.ByProbeMarker: inthdr.NewLocator(inthdr.Config{ProbeMarker: &marker, Version2: true}),
	}
}

// randomPacket is an original packet; one in four has a wrong L4 checksum, one in
// eight of UDP has none.
func randomPacket(r *rand.Rand) []byte {
	f := intgen.Flow{
		Src: netip.AddrFrom4([4]byte{10, byte(r.Uint32()), 1, 2}), Dst: netip.AddrFrom4([4]byte{10, 9, byte(r.Uint32()), 2}),
		Proto: intgen.UDP, SrcPort: uint16(r.Uint32()), DstPort: uint16(1 + r.IntN(4999)), DSCP: uint8(1 + r.IntN(22)),
	}
	if r.IntN(2) == 0 {
		var b [16]byte
		binary.BigEndian.PutUint64(b[8:], r.Uint64())
		b[0] = 0x20
		f.Src = netip.AddrFrom16(b)
		b[15]++
		f.Dst = netip.AddrFrom16(b)
	}
	if r.IntN(2) == 0 {
		f.Proto = intgen.TCP
	}
	if r.IntN(3) == 0 {
		f.VLAN = uint16(1 + r.IntN(4000))
	}
	b := f.Frame(r.IntN(600), r.Uint32())
	at := l4(&f) + 6
	if f.Proto == intgen.TCP {
		at = l4(&f) + 16
	}
	switch {
	case r.IntN(4) == 0:
		binary.BigEndian.PutUint16(b[at:], uint16(1+r.IntN(0xfffd)))
	case f.Proto == intgen.UDP && r.IntN(8) == 0:
		binary.BigEndian.PutUint16(b[at:], 0)
	}
	return b
}

func l4(f *intgen.Flow) int {
	n := 14 + 20
	if !f.Src.Is4() {
		n = 14 + 40
	}
	if f.VLAN != 0 {
		n += 4
	}
	return n
}

// TestStripUndoesInsert: strip(insert(p)) == p for random packets, every
// marking, 0 to 12 hops and random instruction bitmaps, and not a byte outside
// the frame is touched.
func TestStripUndoesInsert(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := locators()
	for n := range 100_000 {
		orig := randomPacket(r)
		s := intgen.Source{
			Marking: intgen.Marking(r.IntN(4)), UDPPort: 5000, DSCP: 23, Mask: 63, ProbeMarker: 0x0102030405060708,
			Bitmap: uint16(r.Uint32()), MaxHops: 20,
		}
		if r.IntN(2) == 0 {
			s.Bitmap = intgen.DefaultBitmap
		}
		hops := make([]intgen.Hop, r.IntN(13))
		for i := range hops {
			hops[i] = intgen.Hop{NodeID: r.Uint32(), LatencyNs: r.Uint32(), IngressTimestamp: r.Uint64()}
		}
		marked, err := s.Insert(orig, hops)
		if err != nil || (len(marked)-len(orig)) > 1000 {
			continue // a shim cannot say more than 1020 bytes
		}
		got, i := stripped(t, all[s.Marking], marked, r.IntN(40))
		if got == nil || !bytes.Equal(got, orig) {
			t.Fatalf("case %d, marking %d, %d hops, bitmap %04x, reason %v:\noriginal %x\nwith INT %x\nstripped %x",
				n, s.Marking, len(hops), s.Bitmap, i.Reason, orig, marked, got)
		}
		if int(i.Hops) != len(hops) && s.Bitmap != 0 {
			t.Fatalf("case %d: %d hops found, want %d (bitmap %04x, reason %v)", n, i.Hops, len(hops), s.Bitmap, i.Reason)
		}
	}
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
	if packet.Parse(b, len(b), &l) != packet.OK || p.Locate(b, &l, &i) != inthdr.Sound {
		return nil, i
	}
	head := strip.Strip(b, &l, &i, nil)
	again := bytes.Clone(frame) // the way of the packet that is like the one before it
	if p.Recall(again, len(again), &l, &i) {
		head := strip.Plain(again, &i)
		if !bytes.Equal(again[head:], b[head:len(b)-padding]) {
			t.Fatalf("Plain left\n%x, Strip\n%x", again[head:], b[head:len(b)-padding])
		}
	}
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
	for m := range intgen.Marking(4) {
		s := intgen.Source{Marking: m, UDPPort: 5000, DSCP: 23, Mask: 63, ProbeMarker: 0x0102030405060708, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
		for range 4 {
			if b, err := s.Insert(randomPacket(r), make([]intgen.Hop, 3)); err == nil {
				f.Add(b, uint8(m))
			}
		}
	}
	all := locators()
	f.Fuzz(func(t *testing.T, frame []byte, m uint8) {
		b := bytes.Clone(frame)
		var l packet.Layers
		var i inthdr.Info
		if packet.Parse(b, len(b), &l) != packet.OK {
			return
		}
		if all[intgen.Marking(m%4)].Locate(b, &l, &i) != inthdr.Sound {
			if !bytes.Equal(b, frame) {
				t.Fatal("a packet that is no INT was changed")
			}
			return
		}
		if int(i.Stack)+int(i.StackLen) > int(i.End) || i.Type == inthdr.MD && int(i.Hops)*int(i.HopLen) != int(i.StackLen) {
			t.Fatalf("stack beyond its INT: %+v", i)
		}
		head := strip.Strip(b, &l, &i, nil)
		if head != int(i.End-i.Start) || !bytes.Equal(b[i.End:], frame[i.End:]) {
			t.Fatalf("%d bytes went, INT has %d; or the payload changed", head, i.End-i.Start)
		}
	})
}
