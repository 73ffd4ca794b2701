package fast

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
)

// A packet with FIN or RST has a template of its own, which none passes by; those of packets
// without come first, whichever was seen first.
func TestFlagsOfTCP(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []byte // of one packet after the other
	}{
		{"first FIN", []byte{0x11, 0x10, 0x10, 0x11, 0x18, 0x10}},
		{"first ACK", []byte{0x10, 0x11, 0x10, 0x14, 0x18, 0x15}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, anyMarking(intgen.ByDSCP, false), everyEvent()[1:2], false)
			flow := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Proto: intgen.TCP, SrcPort: 1, DstPort: 80}
			s := &intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63, Type: intgen.TypeMD, Bitmap: 0xe000, MaxHops: 9}
			orig := flow.Frame(100, 1)
			hops := []intgen.Hop{{NodeID: 1, LatencyNs: 100}, {NodeID: 2, LatencyNs: 100}}
			common := 0
			for i, flags := range c.flags {
				orig[14+20+13] = flags
				f, err := s.Insert(orig, hops)
				if err != nil {
					t.Fatal(err)
				}
				passed := w.passed
				w.burst(1e18+int64(i), [][]byte{f}, []int{len(f)}, 0)
				want := flags&5 == 0 && common > 0 // the flow's first packet is an event
				if common++; flags&5 != 0 {
					common--
				}
				if got := w.passed > passed; got != want {
					t.Errorf("packet %d with flags %#x: passed is %v, want %v", i, flags, got, want)
				}
				if !bytes.Equal(w.vec[0].Bytes(), orig) {
					t.Errorf("packet %d leaves as %x, was %x", i, w.vec[0].Bytes(), orig)
				}
			}
			k := &w.shape[0]
			f, _ := s.Insert(orig, hops)
			if first := k.variant[k.variantOf(f)]; w.shapes != 1 || w.templates[first].common == 0 {
				t.Errorf("%d shapes; the first template, %d, is of packets that never pass", w.shapes, first)
			}
		})
	}
}
