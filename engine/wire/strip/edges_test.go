package strip_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
)

// TestECNStays: whatever stands in the two bits beside the DSCP, over IPv4 and IPv6, for
// packets that were marked by their DSCP and others.
func TestECNStays(t *testing.T) {
	r, all, seen := rand.New(rand.NewPCG(3, 4)), locators(false), map[[2]byte]int{}
	for range cases / 50 {
		orig, s, hops := intgen.Random(r)
		s.BeforeOptions = false
		ecn, at := byte(r.IntN(4)), 14
		switch {
		case binary.BigEndian.Uint16(orig[12:]) == 0x0800:
			old := orig[at+1]
			orig[at+1] = old&^3 | ecn
			sum := uint32(^binary.BigEndian.Uint16(orig[at+10:])) + uint32(^uint16(old)) + uint32(orig[at+1]) // RFC 1624
			sum = sum&0xffff + sum>>16
			binary.BigEndian.PutUint16(orig[at+10:], ^uint16(sum+sum>>16))
		case binary.BigEndian.Uint16(orig[12:]) == 0x86dd:
			orig[at+1] = orig[at+1]&^0x30 | ecn<<4
		default:
			continue
		}
		marked, err := s.Insert(orig, hops)
		if err != nil {
			continue
		}
		got, i := stripped(t, all[s.Marking], marked, 0)
		if !bytes.Equal(got, orig) {
			t.Fatalf("ECN %d, %+v, reason %v:\noriginal %x\nstripped %x", ecn, s, i.Reason, orig, got)
		}
		seen[[2]byte{orig[at] >> 4, ecn}]++
	}
	if len(seen) != 8 {
		t.Errorf("versions and ECN: %v", seen)
	}
}

// TestComputedZero: a UDP checksum that comes out as zero is sent as all ones (RFC 768), for
// zero says that there is none.
func TestComputedZero(t *testing.T) {
	for _, c := range []struct {
		name     string
		src, dst netip.Addr
	}{
		{"IPv4", netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")},
		{"IPv6", netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")},
	} {
		for _, m := range []intgen.Marking{intgen.ByPort, intgen.ByDSCP} {
			t.Run(c.name, func(t *testing.T) {
				f := intgen.Flow{Src: c.src, Dst: c.dst, Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
				orig := f.Frame(20, 1)
				udp := orig[len(orig)-28:]
				sum := uint32(binary.BigEndian.Uint16(udp[6:])) + uint32(binary.BigEndian.Uint16(udp[16:]))
				binary.BigEndian.PutUint16(udp[16:], uint16(sum+sum>>16))
				binary.BigEndian.PutUint16(udp[6:], 0xffff)
				s := intgen.Source{Marking: m, UDPPort: 5000, DSCP: 23, Mask: 63, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
				marked, err := s.Insert(orig, []intgen.Hop{{NodeID: 1, LatencyNs: 7}, {NodeID: 2, LatencyNs: 9}})
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := stripped(t, locators(false)[m], marked, 0); !bytes.Equal(got, orig) {
					t.Errorf("\noriginal %x\nstripped %x", orig, got)
				}
			})
		}
	}
}

// TestLabelsKeepTheirEtherType: behind MPLS labels nothing names the protocol, and what
// names the labels stays, where the packet in a tunnel takes the tunnel's place.
func TestLabelsKeepTheirEtherType(t *testing.T) {
	labelled := func(b []byte, labels int) []byte {
		out := append(bytes.Clone(b[:12]), 0x88, 0x47)
		for n := range labels {
			last := byte(0)
			if n == labels-1 {
				last = 1
			}
			out = append(out, 0, 1, 0x40|last, 64)
		}
		return append(out, b[14:]...)
	}
	for labels := 1; labels <= 3; labels++ {
		f := intgen.Flow{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
		orig := f.Frame(20, 1)
		s := intgen.Source{
			Marking: intgen.ByGRE, GREInserted: true, Bitmap: intgen.DefaultBitmap, MaxHops: 8,
			OuterSrc: netip.MustParseAddr("192.0.2.1"), OuterDst: netip.MustParseAddr("192.0.2.2"),
		}
		marked, err := s.Insert(orig, []intgen.Hop{{NodeID: 1, LatencyNs: 7}})
		if err != nil {
			t.Fatal(err)
		}
		got, i := stripped(t, locators(false)[intgen.ByGRE], labelled(marked, labels), 0)
		if want := labelled(orig, labels); !bytes.Equal(got, want) {
			t.Errorf("%d labels, reason %v:\nwant %x\ngot  %x", labels, i.Reason, want, got)
		}
	}
}
