package inthdr_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
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
