package strip_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
)

// geneveFrame is a packet in a Geneve tunnel with these options.
func geneveFrame(t *testing.T, checksum bool, options ...[]byte) []byte {
	t.Helper()
	f := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
	tunnel := intgen.Tunnel{
		Encap: intgen.Geneve, Src: netip.MustParseAddr("172.16.0.1"), Dst: netip.MustParseAddr("172.17.0.1"),
		SrcPort: 50000, VNI: 7, Ethernet: true, Checksum: checksum, Options: options,
	}
	b, err := tunnel.Wrap(f.Frame(20, 1))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOptionsAroundINTStay: Geneve options of other classes before, between and behind those of INT
// stay as they are and in their order, and the lengths and checksums count what is left.
func TestOptionsAroundINTStay(t *testing.T) {
	const options = 14 + 20 + 8 + 8 // offset of the first one
	s := intgen.Source{Marking: intgen.ByGeneve, ThenDestination: true, DestinationWords: 2, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	marked, err := s.Insert(geneveFrame(t, true), []intgen.Hop{{NodeID: 1, LatencyNs: 7}, {NodeID: 2, LatencyNs: 9}})
	if err != nil {
		t.Fatal(err)
	}
	size := func(at int) int { return 4 + int(marked[at+3]&0x1f)*4 }
	behind := options + size(options)
	md, destination := marked[options:behind], marked[behind:behind+size(behind)]

	empty, short := []byte{1, 2, 0x80, 0}, []byte{1, 2, 5, 1, 9, 8, 7, 6}
	long := append([]byte{0xff, 0xff, 0x11, 31}, bytes.Repeat([]byte{0xab, 0xcd}, 62)...)
	for n, c := range []struct{ with, without [][]byte }{
		{[][]byte{md, empty, destination}, [][]byte{empty}},
		{[][]byte{md, short, destination}, [][]byte{short}},
		{[][]byte{destination, short, md}, [][]byte{short}},
		{[][]byte{md, long, destination}, [][]byte{long}},
		{[][]byte{md, short, empty, destination}, [][]byte{short, empty}},
		{[][]byte{short, md, destination, empty}, [][]byte{short, empty}},
		{[][]byte{empty, md, short, empty, destination, short}, [][]byte{empty, short, empty, short}},
	} {
		for _, checksum := range []bool{true, false} {
			t.Run(fmt.Sprintf("case %d, UDP checksum %v", n, checksum), func(t *testing.T) {
				want := geneveFrame(t, checksum, c.without...)
				got, i := stripped(t, locators(false)[intgen.ByGeneve], geneveFrame(t, checksum, c.with...), 3)
				if !bytes.Equal(got, want) {
					t.Errorf("reason %v:\nwant %x\ngot  %x", i.Reason, want, got)
				}
			})
		}
	}
}
