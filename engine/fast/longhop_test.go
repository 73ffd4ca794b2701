package fast

import (
	"testing"

	"intsink/engine/intgen"
	"intsink/engine/inthdr"
)

// TestThresholdsInLongHops: a queue over its threshold is seen however much metadata of a domain follows in each
// hop, in C as in Go.
func TestThresholdsInLongHops(t *testing.T) {
	const domain = 9
	for _, more := range []int{0, 12, 28, 32, 44} {
		for _, inGo := range []bool{false, true} {
			c := anyMarking(intgen.ByPort, false)
			d := inthdr.Domain{ID: domain}
			d.Bits[0].Length = uint16(more)
			c.Domains = append(c.Domains, d)
			w := newWorld(t, c, everyEvent()[:1], inGo)
			packet := func(occupancy uint32) []byte {
				s := intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Type: intgen.TypeMD, Bitmap: 0xf000, MaxHops: 9}
				if more > 0 {
					s.DomainID, s.DSInstruction, s.DomainPerHop = domain, 1<<15, more
				}
				f, err := s.Insert(intgen.NthFlow(1, false, false).Frame(64, 0), []intgen.Hop{{NodeID: 1, QueueOccupancy: occupancy}, {NodeID: 2}})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			pass := func(f []byte) (passed bool) {
				before := w.passed
				w.burst(1e18, [][]byte{f}, []int{len(f)}, false)
				return w.passed > before
			}
			quiet := 0
			for range 20 {
				if pass(packet(10)) {
					quiet++
				}
			}
			if more == 0 && quiet < 5 || more > 0 && quiet == 0 && more <= 12 {
				t.Errorf("%d bytes more, in Go %v: %d of 20 quiet packets were passed", more, inGo, quiet)
			}
			if pass(packet(6000)) {
				t.Errorf("%d bytes more, in Go %v: a packet was passed whose queue is over the threshold", more, inGo)
			}
		}
	}
}
