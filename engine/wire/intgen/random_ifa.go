// RandomIFA: any insertion of IFA, for property tests.

package intgen

import "math/rand/v2"

// RandomIFA makes an original packet, an insertion of IFA for it that nearly always succeeds, and its hops.
func RandomIFA(r *rand.Rand) (orig []byte, s *Source, hops []Hop) {
	s = &Source{Marking: ByIFA}
	orig = randomOriginal(r, s)
	x := &s.IFA
	x.LNS, x.Reserved, x.TTL = uint8(1+r.IntN(15)), uint8(r.Uint32()), uint8(1+r.IntN(200))
	x.Copy, x.Tail, x.HopLen = one(r, 4), one(r, 5), [...]int{32, 28, 20}[r.IntN(3)]
	if !x.Tail {
		x.Checksum, x.Part = one(r, 4), one(r, 8)
	}
	hops = make([]Hop, r.IntN(12))
	for i := range hops {
		hops[i] = randomHop(r)
		hops[i].LatencyNs %= 1e9
	}
	if one(r, 8) { // a stack of nobody's
		hops, x.Raw = nil, randomBytes(r, 4*r.IntN(256))
	}
	return orig, s, hops
}
