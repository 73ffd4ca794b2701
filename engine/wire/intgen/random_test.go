package intgen

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// walked is what an independent look at a frame finds in its outermost IP packet.
type walked struct {
	l4       int
	proto    uint8
	ip       bool   // right header checksum, and the packet ends with the frame
	length   bool   // right length of UDP
	checksum bool   // there is one
	error    uint16 // what it is off by; 0 and 0xffff are right
}

// walk computes every sum from scratch.
func walk(b []byte) (w walked) {
	at := 12
	for binary.BigEndian.Uint16(b[at:]) == 0x8100 || binary.BigEndian.Uint16(b[at:]) == 0x88a8 {
		at += 4
	}
	h := b[at+2:]
	var addresses []byte
	switch binary.BigEndian.Uint16(b[at:]) {
	case 0x0800:
		n := int(h[0]&15) * 4
		w.ip = onesSum(h[:n]) == 0xffff && int(binary.BigEndian.Uint16(h[2:])) == len(h)
		w.proto, addresses, w.l4 = h[9], h[12:20], at+2+n
	case 0x86dd:
		w.ip = int(binary.BigEndian.Uint16(h[4:])) == len(h)-40
		w.proto, addresses, w.l4 = h[6], h[8:40], at+2+40
		for w.proto == 0 || w.proto == 60 {
			w.proto, w.l4 = b[w.l4], w.l4+8+int(b[w.l4+1])*8
		}
	}
	l4 := b[w.l4:]
	pseudo := append(bytes.Clone(addresses), 0, w.proto, byte(len(l4)>>8), byte(len(l4)))
	w.length = true
	switch w.proto {
	case 6:
		w.checksum, w.error = true, onesSum(append(pseudo, l4...))
	case 17:
		w.length = int(binary.BigEndian.Uint16(l4[4:])) == len(l4)
		w.checksum, w.error = l4[6]|l4[7] != 0, onesSum(append(pseudo, l4...))
	case 47:
		w.checksum, w.error = l4[0]&0x80 != 0, onesSum(l4)
	}
	return w
}

// onesSum is the ones' complement sum of RFC 1071, carry by carry.
func onesSum(b []byte) uint16 {
	var s uint32
	for i, v := range b {
		s += uint32(v) << (8 * (1 - i&1))
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// Insert leaves right checksums right, wrong ones wrong by as much and absent ones
// absent; it touches nothing behind the INT.
func TestRandomInsert(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Marking]int{}
	failed := 0
	for range 20000 {
		orig, s, hops := Random(r)
		before := bytes.Clone(orig)
		out, err := s.Insert(orig, hops)
		if err != nil {
			failed++
			continue
		}
		seen[s.Marking]++
		if !bytes.Equal(orig, before) {
			t.Fatal("the original changed")
		}
		a, b := walk(orig), walk(out)
		if !a.ip || !a.length || !b.ip || !b.length {
			t.Fatalf("%+v\n%x %+v\n%x %+v", s, orig, a, out, b)
		}
		if newHeader := s.Marking == ByGRE && s.GREInserted || b.proto == 17 && a.proto != 17 || s.Marking == ByNewUDP; newHeader {
			inner := orig[a.l4:]
			if s.Marking == ByGRE && s.GREEthernet {
				inner = orig
			}
			if b.checksum != (s.Marking == ByGRE && s.GREChecksum) || b.checksum && b.error != 0xffff || !bytes.HasSuffix(out, inner) {
				t.Fatalf("%+v\n%x %+v\n%x %+v", s, orig, a, out, b)
			}
			continue
		}
		if a.proto != b.proto || a.checksum != b.checksum || a.checksum && a.error%0xffff != b.error%0xffff {
			t.Fatalf("%+v\n%x %+v\n%x %+v", s, orig, a, out, b)
		}
		if behind := orig[min(a.l4+headerLimit(s, a.proto), len(orig)):]; !bytes.HasSuffix(out, behind) {
			t.Fatalf("%+v\n%x\n%x", s, orig, out)
		}
	}
	t.Logf("%v, %d failed", seen, failed)
	for m := ByPort; m <= ByGeneve; m++ {
		if seen[m] < 2000 {
			t.Errorf("marking %d: %d packets", m, seen[m])
		}
	}
	if failed > 200 {
		t.Errorf("%d insertions failed", failed)
	}
}

// headerLimit is how far behind the start of an L4 header INT or a change of s can
// stand at most.
func headerLimit(s *Source, proto uint8) int {
	switch {
	case proto == TCP:
		return 60
	case s.Marking == ByGeneve:
		return 16 + 252
	case s.Marking == ByVXLANGPE || s.Marking == ByGRE:
		return 16
	}
	return 8
}

// Random's checksums: about a quarter wrong, an eighth of UDP's zero, none of IP
// wrong.
func TestRandomChecksums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var wrong, all, udp, zero int
	for range 20000 {
		orig, _, _ := Random(r)
		w := walk(orig)
		if w.proto == 17 {
			udp++
			if !w.checksum {
				zero++
			}
		}
		if w.checksum || w.proto == 17 {
			all++
			if w.checksum && w.error != 0xffff {
				wrong++
			}
		}
	}
	if share := float64(wrong) / float64(all); share < 0.2 || share > 0.3 {
		t.Errorf("%.3f of the checksums are wrong", share)
	}
	if share := float64(zero) / float64(udp); share < 0.1 || share > 0.15 {
		t.Errorf("%.3f of the UDP checksums are zero", share)
	}
}

// Damaged packets give an error or something, but no panic.
func TestInsertIntoDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		orig, s, hops := Random(r)
		for range 1 + r.IntN(3) {
			orig[12+r.IntN(min(len(orig)-12, 100))] ^= uint8(1 << r.IntN(8))
		}
		if one(r, 2) {
			orig = orig[:r.IntN(len(orig))]
		}
		_, _ = s.Insert(orig, hops)
		_, _ = (&Tunnel{Encap: IPIP, Src: s.OuterSrc, Dst: s.OuterDst}).Wrap(orig)
	}
}

// Random reaches every marking with every type, address family and link header.
func TestRandomReach(t *testing.T) {
	type kind struct {
		marking  Marking
		typ      uint8
		chain    bool
		v6       bool
		tags     bool
		ipExtras bool
	}
	r := rand.New(rand.NewPCG(7, 8))
	seen := map[kind]int{}
	for range 40000 {
		orig, s, _ := Random(r)
		p, err := find(orig)
		if err != nil {
			t.Fatal(err)
		}
		extras := p.l4-p.ip != 20 && !p.v6 || p.l4-p.ip != 40 && p.v6
		seen[kind{s.Marking, s.Type, s.ThenDestination, p.v6, p.l3 > 14, extras}]++
	}
	for m := ByPort; m <= ByGeneve; m++ {
		for _, typ := range []uint8{TypeMD, TypeDestination, TypeMX} {
			for i := range 16 {
				k := kind{m, typ, i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0}
				canChain := m != ByDSCP && m != ByProbeMarker
				if seen[k] == 0 && (!k.chain || canChain && typ != TypeDestination) {
					t.Errorf("never: %+v", k)
				}
			}
		}
	}
}
