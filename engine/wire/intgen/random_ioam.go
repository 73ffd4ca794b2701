// RandomIOAM: any insertion of IOAM, for property tests.

package intgen

import (
	"math/rand/v2"
	"net/netip"
)

// RandomIOAM makes an original IPv6 packet, whose options headers are padded as little as can be, or any for a tunnel to
// RandomEnd, an insertion of IOAM for it that nearly always succeeds, and its hops.
func RandomIOAM(r *rand.Rand) (orig []byte, s *Source, hops []Hop) {
	s = &Source{Marking: ByIOAM}
	f := randomFlow(r, true)
	if one(r, 5) {
		s.tunnelOfRandom(r)
	}
	for f.Src.Is4() && !s.IOAM.Tunnel {
		f.Src, f.Dst = randomAddrs(r)
	}
	f.IPOptions, f.Extensions = nil, nil
	for _, kind := range [...]uint8{HopByHop, DestinationOptions} {
		if one(r, 2) {
			f.Extensions = append(f.Extensions, Extension{kind, randomOptions(r)})
		}
	}
	orig = f.Frame(r.IntN(200), r.Uint32())
	spoil(r, orig)
	x := &s.IOAM
	x.Type = r.Uint32() & 0xfffffc // no snapshot
	if one(r, 3) {
		x.Type = 0
	}
	x.Incremental, x.Destination, x.Front, x.Edge = one(r, 3), one(r, 3), one(r, 3), one(r, 4)
	x.Overflow, x.Active, x.Number = one(r, 8), one(r, 8), r.Uint32()
	if !x.Incremental {
		x.Free = r.IntN(20)
	}
	if one(r, 4) {
		x.Type, x.Snapshot = x.Type|ioamSnapshot, randomBytes(r, 4*r.IntN(6))
	}
	hops = make([]Hop, r.IntN(8))
	for i := range hops {
		hops[i] = randomHop(r)
		hops[i].NodeID &= 0xffffff
	}
	if one(r, 8) {
		hops, x.Free, x.Raw = nil, r.IntN(128), randomBytes(r, r.IntN(240))
	}
	return orig, s, hops
}

// RandomEnd is where the tunnels of RandomIOAM end.
var RandomEnd = netip.MustParseAddr("2001:db8::e")

// tunnelOfRandom has s put packets into a tunnel.
func (s *Source) tunnelOfRandom(r *rand.Rand) {
	s.IOAM.Tunnel, s.OuterDst = true, RandomEnd
	for s.OuterSrc, _ = randomAddrs(r); s.OuterSrc.Is4(); {
		s.OuterSrc, _ = randomAddrs(r)
	}
}

// randomOptions are some that a sink knows nothing of, IOAM of another namespace among them, and as little padding as can be.
func randomOptions(r *rand.Rand) []byte {
	b := []byte{0, 0} // the two bytes of the header, which Frame writes
	for range 1 + r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			b = append(padTo(b, 2, 0), 5, 2, 0, 0) // router alert
		case 1:
			b = append(padTo(b, 4, 0), ioamOption, 14, 0, uint8(r.IntN(2)), 0, 124, 8, 1, 0x80, 0, 0, 0, 0, 0, 0, 0)
		case 2:
			b = append(padTo(b, 8, 6), 0xc9, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16) // home address
		default:
			data := randomBytes(r, r.IntN(20))
			b = append(append(b, 0x1e, uint8(len(data))), data...)
		}
	}
	return padTo(b, ioamUnit, 0)[2:]
}
