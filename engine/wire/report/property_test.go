package report

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// randomReport is any report that Append takes.
func randomReport(rng *rand.Rand) Individual {
	bytesOf := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	r := Individual{
		Dropped: rng.IntN(2) == 0, CongestedQueue: rng.IntN(2) == 0, TrackedFlow: rng.IntN(2) == 0, Intermediate: rng.IntN(2) == 0,
		InType: []InType{None, DSExtension, Ethernet, IPv4, IPv6}[rng.IntN(5)],
	}
	if rng.IntN(3) > 0 {
		r.RepType = INT
		r.RepMdBits, r.DomainSpecificID = uint16(rng.Uint32()), uint16(rng.Uint32())
		r.DSMdStatus = uint16(rng.Uint32())
		r.Metadata = bytesOf(mdSize(r.RepMdBits) + 4*rng.IntN(4))
		if len(r.Metadata) > mdSize(r.RepMdBits) { // else there is no domain specific metadata
			r.DomainSpecificID |= 1
			r.DSMdBits = 1 << rng.IntN(16)
		}
	}
	if r.InType != None {
		r.Inner = bytesOf(rng.IntN(150))
	}
	if rng.IntN(20) == 0 && r.InType != None {
		r.Inner = bytesOf(1000 + rng.IntN(200))
	}
	return r
}

// mdSize is the length in bytes of what RepMdBits ask for: a word each, and two where
// the value has 64 bits or there are two values.
func mdSize(repMdBits uint16) int {
	const double = MdIngressTimestamp | MdEgressTimestamp | MdLevel2Interfaces
	return 4 * (bits.OnesCount16(repMdBits) + bits.OnesCount16(repMdBits&double))
}

// Growth and Alone say before what Append does.
func TestLengthsAreKnownBefore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	grown := 0
	for range 5000 {
		f := []Format{Format20, Format20, Format10, Format05}[rng.IntN(4)]
		room := 20 + rng.IntN(1400)
		var p Packet
		if r := randomReport(rng); p.Growth(&r) != 0 {
			t.Fatal("a closed packet grows")
		}
		p.OpenAs(f, make([]byte, room))
		for i := range 12 {
			r := randomReport(rng)
			r.Own = &Metadata{}
			before, want := p.Len(), p.Growth(&r)
			if alone := Alone(f, &r, room); i == 0 && (want > 0) != (alone > 0) || i == 0 && want > 0 && alone != before+want {
				t.Fatalf("format %d, room %d: grows by %d from %d, alone %d", f, room, want, before, alone)
			}
			if ok := p.Append(&r); ok != (want > 0) || p.Len() != before+want {
				t.Fatalf("format %d, room %d: %v, from %d to %d, want %d more", f, room, ok, before, p.Len(), want)
			}
			grown += want
		}
	}
	if grown == 0 {
		t.Error("nothing was appended")
	}
}
