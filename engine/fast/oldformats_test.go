package fast

import (
	"bytes"
	"fmt"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// TestOldFormats: packets of INT 1.0 and of June 2016 have templates that take INT out of them as
// the parser does. Those of INT 1.0 pass like those of 2.x, unless somebody asks for the latency
// of links, which timestamps of 32 bits make; those of 2016 have values of 31 bits and are left
// to Go.
func TestOldFormats(t *testing.T) {
	type passes struct{ always, withoutLinks bool }
	for _, c := range []struct {
		name    string
		marking intgen.Marking
		format  intgen.Format
		encap   intgen.Encap // of the tunnel, where tunnel is set
		tunnel  bool
		bitmap  uint16
		passes  passes
	}{
		{"1.0 by DSCP", intgen.ByDSCP, intgen.Format1, 0, false, 0xf100, passes{true, true}},
		{"1.0 by probe marker", intgen.ByProbeMarker, intgen.Format1, 0, false, 0xf000, passes{true, true}},
		{"1.0 by VXLAN-GPE", intgen.ByVXLANGPE, intgen.Format1, intgen.VXLANGPE, true, 0xe000, passes{true, true}},
		{"1.0 by Geneve", intgen.ByGeneve, intgen.Format1, intgen.Geneve, true, 0xf100, passes{true, true}},
		{"1.0 with one timestamp", intgen.ByDSCP, intgen.Format1, 0, false, 0xf800, passes{true, true}},
		{"1.0 with both timestamps", intgen.ByDSCP, intgen.Format1, 0, false, 0xfc00, passes{false, true}},
		{"2016 by VXLAN-GPE", intgen.ByVXLANGPE, intgen.Format2016, intgen.VXLANGPE, true, 0xf100, passes{}},
		{"2016 by Geneve", intgen.ByGeneve, intgen.Format2016, intgen.Geneve, true, 0xf000, passes{}},
	} {
		for _, portable := range []bool{false, true} {
			for _, links := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, portable %v, links %v", c.name, portable, links), func(t *testing.T) {
					p := everyEvent()[0]
					if p.Sample = 0; !links {
						p.Events &^= event.LinkLatency.Set()
					}
					s := intgen.Source{Marking: c.marking, Format: c.format, DSCP: 23, Mask: 63, ProbeMarker: 0x0102030405060708, Bitmap: c.bitmap}
					var w *world
					passed, watched := 0, false
					for n := 0; !watched; n++ { // the world gives some flows no watch
						w = newWorld(t, anyMarking(c.marking, false), []event.Policy{p}, portable)
						passed = oldPackets(t, w, &s, oldOriginal(t, n, c.encap, c.tunnel))
						watched = w.Flows[0].Watch == 0
					}
					want := 0
					if c.passes.always || c.passes.withoutLinks && !links {
						want = 19 // all but the flow's first
					}
					if w.stored != 1 || passed != want {
						t.Errorf("%d templates, %d of 20 packets passed; want 1 and %d", w.stored, passed, want)
					}
				})
			}
		}
	}
}

// oldOriginal is a packet of flow n, inside of a tunnel where there is to be one.
func oldOriginal(t *testing.T, n int, encap intgen.Encap, tunnel bool) []byte {
	f := intgen.NthFlow(n, true, false)
	orig := f.Frame(64, 0)
	if !tunnel {
		return orig
	}
	around := intgen.Tunnel{Encap: encap, SrcMAC: intgen.SourceMAC, DstMAC: intgen.DestinationMAC, Src: f.Src, Dst: f.Dst, SrcPort: uint16(1000 + n), Ethernet: true}
	orig, err := around.Wrap(orig)
	if err != nil {
		t.Fatal(err)
	}
	return orig
}

// oldPackets takes 20 packets of a flow through w, which differ by latencies, times and Max Hop
// Count, and tells how many were passed.
func oldPackets(t *testing.T, w *world, s *intgen.Source, orig []byte) (passed int) {
	hops := make([]intgen.Hop, 3)
	for i := range 20 {
		for h := range hops {
			hops[h] = intgen.Hop{NodeID: uint32(9 - h), Ingress: 1, Egress: 2, LatencyNs: 1000 + uint32(i), IngressTimestamp: uint64(1e6 * i), EgressTimestamp: uint64(1e6*i + 900)}
		}
		s.MaxHops = 9 + i%3
		frame, err := s.Insert(orig, hops)
		if err != nil {
			t.Fatal(err)
		}
		w.burst(int64(1e18)+int64(i)*1000, [][]byte{frame}, []int{len(frame)}, 0)
		if got := w.vec[0].Bytes(); w.Len() != 1 || !bytes.Equal(got, orig) {
			t.Fatalf("packet %d leaves as\n%x, and was\n%x", i, got, orig)
		}
	}
	return w.passed
}
