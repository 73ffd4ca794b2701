package traffic

import (
	"math/rand/v2"

	"intsink/engine/wire/intgen"
)

// kind is a packet with headers that no other kind has.
type kind struct{ original, frame []byte }

// longest is the most bytes of an original of random headers: those of all fit.
const longest = 400

// randomKinds are n packets of any headers: one half with INT-MD of at most so many hops, by any
// marking but the probe marker, the other half without INT.
func randomKinds(r *rand.Rand, n, hops int) (all []kind) {
	for len(all) < n {
		original, s, path := intgen.Random(r)
		s.Type, s.ThenDestination, s.DomainID, s.DSInstruction, s.SourceOnly, s.DomainPerHop = intgen.TypeMD, false, 0, 0, nil, 0
		s.Discard, s.HopExceeded, s.MTUExceeded, s.BeforeOptions = false, false, false, false
		s.UDPPort, s.Bitmap = UDPPort, intgen.DefaultBitmap
		if len(original) > longest || s.Marking == intgen.ByProbeMarker {
			continue
		}
		for i := range path { // calm, as those of other inputs: these are about headers
			path[i].LatencyNs, path[i].QueueOccupancy = 10_000+path[i].LatencyNs%2000, path[i].QueueOccupancy%100
		}
		k := kind{original, original}
		if len(all)%2 == 0 {
			frame, err := s.Insert(original, path[:min(hops, len(path))])
			if err != nil {
				continue
			}
			k.frame = frame
		}
		all = append(all, k)
	}
	return all
}
