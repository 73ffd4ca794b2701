// Random: any insertion of INT with random hops, types and wrong checksums, for property
// tests.

package intgen

import (
	"encoding/binary"
	"math/rand/v2"
)

// Random makes an original packet and an insertion for it that nearly always
// succeeds: any marking and header type of INT 2.x, over any packet that the marking
// can be put into. Every number that a sink has to know stands in the source. Wrong
// checksums, a quarter of all, are those of the outermost TCP, UDP or GRE header; an
// eighth of the UDP checksums are zero.
func Random(r *rand.Rand) (orig []byte, s *Source, hops []Hop) {
	s = &Source{
		Marking: Marking(r.IntN(int(ByGeneve) + 1)),
		UDPPort: 5000, DSCP: 23, Mask: 63, ProbeMarker: 0x0102030405060708,
		GREProtocol: 0x88b6, GPEPort: portGPE, GPENextProtocol: 0x82, GenevePort: portGeneve, GeneveClass: 0x0103,
		BeforeOptions: one(r, 2), GREInserted: one(r, 2), FromVXLAN: one(r, 2), GeneveLast: one(r, 2),
		Type: TypeMD, Bitmap: DefaultBitmap,
	}
	orig = randomOriginal(r, s)
	s.randomGRE(r)
	s.randomTypes(r)
	hops = make([]Hop, s.randomHops(r))
	for i := range hops {
		hops[i] = randomHop(r)
	}
	s.MaxHops = len(hops) + r.IntN(20)
	if s.HopExceeded = one(r, 16); s.HopExceeded {
		s.MaxHops = len(hops)
	}
	return orig, s, hops
}

// one is true once in n.
func one(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// randomGRE chooses the GRE header of G = 1.
func (s *Source) randomGRE(r *rand.Rand) {
	s.GREEthernet, s.GREChecksum, s.GREKey, s.GRESequence = one(r, 2), one(r, 2), one(r, 3), one(r, 3)
	s.OuterSrc, s.OuterDst = randomAddrs(r)
	if one(r, 3) {
		s.OuterVLAN = randomTag(r)
	}
}

// randomTypes chooses header types, domain and flags.
func (s *Source) randomTypes(r *rand.Rand) {
	s.Type = [...]uint8{TypeMD, TypeMD, TypeMD, TypeMX, TypeDestination}[r.IntN(5)]
	chains := s.Marking != ByDSCP && s.Marking != ByProbeMarker
	s.ThenDestination = chains && s.Type != TypeDestination && one(r, 4)
	s.DestinationWords = 1 + r.IntN(10)
	if one(r, 2) {
		s.Bitmap = uint16(r.Uint32())
	}
	if one(r, 4) {
		s.DomainID, s.DSInstruction, s.DSFlags = uint16(1+r.IntN(0xffff)), uint16(1+r.IntN(0xffff)), uint16(r.Uint32())
		s.DomainPerHop = 4 * r.IntN(3)
		s.SourceOnly = randomBytes(r, 4*r.IntN(4))
	}
	s.Discard, s.MTUExceeded = one(r, 16), one(r, 16)
	if one(r, 8) {
		s.Reserved = uint16(r.Uint32()) & 0xfff
	}
}

// randomHops returns a number of hops that the Length fields can say.
func (s *Source) randomHops(r *rand.Rand) int {
	words := 255
	if s.Marking == ByGeneve {
		words = 31
	}
	n, ml := r.IntN(13), s.hopWords()
	if ml == 0 {
		return n
	}
	return min(n, (words-3-len(s.SourceOnly)/4)/ml)
}

func randomHop(r *rand.Rand) Hop {
	return Hop{
		NodeID: r.Uint32(), Ingress: uint16(r.Uint32()), Egress: uint16(r.Uint32()), LatencyNs: r.Uint32(),
		QueueID: uint8(r.Uint32()), QueueOccupancy: r.Uint32() & 0xffffff,
		IngressTimestamp: r.Uint64(), EgressTimestamp: r.Uint64(),
		Level2Ingress: r.Uint32(), Level2Egress: r.Uint32(), TxUtilization: r.Uint32(),
		BufferID: uint8(r.Uint32()), BufferOccupancy: r.Uint32() & 0xffffff,
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	return b
}

// spoil makes the checksum of TCP, UDP or GRE wrong in a quarter of all cases, and
// zero in an eighth of those of UDP. A wrong checksum is neither 0 nor 0xffff, which
// are the same number to an incremental update.
func spoil(r *rand.Rand, b []byte) {
	p, err := find(b)
	if err != nil {
		return
	}
	var c []byte
	switch {
	case p.proto == TCP && p.payload != 0:
		c = b[p.l4+16:]
	case p.proto == UDP && p.payload != 0:
		c = b[p.l4+6:]
	case p.proto == GRE && b[p.l4]&0x80 != 0:
		c = b[p.l4+4:]
	default:
		return
	}
	switch k := r.IntN(8); {
	case k == 0 && p.proto == UDP:
		c[0], c[1] = 0, 0
	case k == 1 || k == 2:
		right := binary.BigEndian.Uint16(c)
		for v := right; v == right || v == 0 || v == 0xffff; {
			v = uint16(r.Uint32())
			binary.BigEndian.PutUint16(c, v)
		}
	}
}
