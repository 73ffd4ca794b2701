package inthdr_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/engine/intgen"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

const intPort = 5000

func byPort() *inthdr.Locator {
	port := uint16(intPort)
	return inthdr.NewLocator(inthdr.Config{UDPPort: &port, Version2: true})
}

// marked is a UDP packet with INT of the given hops behind its header.
func marked(t testing.TB, r *rand.Rand, hops, payload int) []byte {
	f := intgen.Flow{
		Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, byte(r.Uint32())}),
		Proto: intgen.UDP, SrcPort: uint16(r.Uint32()), DstPort: uint16(r.Uint32()), DSCP: uint8(r.IntN(64)),
	}
	s := intgen.Source{UDPPort: intPort, Bitmap: intgen.DefaultBitmap, MaxHops: 20}
	b, err := s.Insert(f.Frame(payload, r.Uint32()), make([]intgen.Hop, hops))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMatchIsParseAndLocate: whatever bytes of a frame are changed, Match
// either does not answer or answers exactly what Parse and Locate would.
func TestMatchIsParseAndLocate(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	p, answered, plain := byPort(), 0, 0
	for n := range 300_000 {
		b := marked(t, r, 1+n/1000%6, r.IntN(40))
		for range r.IntN(3) {
			at := r.IntN(min(len(b), 62))
			b[at] ^= 1 << r.IntN(8)
		}
		if r.IntN(4) == 0 {
			b = b[:r.IntN(len(b)+1)]
		}
		b = b[:len(b):len(b)]
		pktLen := len(b)
		if r.IntN(8) == 0 {
			pktLen += r.IntN(100) // later segments follow
		}
		var l, wantL packet.Layers
		var i, wantI inthdr.Info
		recalled := p.HeaderCache().Match(b, pktLen, &i)
		parsed := packet.Parse(b, pktLen, &wantL)
		result := inthdr.NotINT
		if parsed == packet.OK {
			var o inthdr.Outers
			result = p.Find(b, &wantL, &wantI, &o) // and remember for the next
		}
		switch recalled {
		case inthdr.CacheUnknown:
			continue
		case inthdr.CacheNotINT:
			if result != inthdr.NotINT {
				t.Fatalf("%x\nplain, but located: %v", b, result)
			}
			plain++
			continue
		}
		answered++
		if !i.UDPv4 {
			t.Fatalf("recalled, but not marked as plain")
		}
		inthdr.UDPv4Layers(b, &i, &l)
		if got, want := i.Size, wantL.End-wantI.Removed; got != want {
			t.Fatalf("%x\n%d bytes without INT, want %d", b, got, want)
		}
		i.UDPv4, i.Size = false, 0
		p.Classify(&wantI)
		if result != inthdr.Sound || l != wantL || i != wantI {
			t.Fatalf("%x\nrecalled %+v %+v\nlocated  %+v %+v (%v, %v)", b, l, i, wantL, wantI, parsed, result)
		}
	}
	if answered < 50_000 || plain < 1000 {
		t.Errorf("Recall answered for %d packets only, and %d without INT", answered, plain)
	}
}
