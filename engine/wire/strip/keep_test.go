package strip_test

import (
	"bytes"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// TestTunnelKeepsItsChecksum: where checksums are to be kept, the UDP header of a tunnel leaves with the
// checksum that it came with, and with lengths that are right.
func TestTunnelKeepsItsChecksum(t *testing.T) {
	const checksum = 14 + 20 + 6
	s := intgen.Source{Marking: intgen.ByGeneve, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	want := geneveFrame(t, true)
	marked, err := s.Insert(want, []intgen.Hop{{NodeID: 1, LatencyNs: 7}})
	if err != nil {
		t.Fatal(err)
	}
	marked[checksum], marked[checksum+1] = 0xbe, 0xef
	want = bytes.Clone(want)
	want[checksum], want[checksum+1] = 0xbe, 0xef
	keep := inthdr.NewLocator(inthdr.Config{Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}, Version2: true, KeepChecksum: true})
	if got, i := stripped(t, keep, marked, 0); !bytes.Equal(got, want) {
		t.Errorf("reason %v:\nwant %x\ngot  %x", i.Reason, want, got)
	}
}
