package strip_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
)

// withECN is the frame b with another ECN field in the IP header behind its Ethernet header; the
// checksum of IPv4 is computed anew over the whole header.
func withECN(b []byte, ecn byte) []byte {
	b = bytes.Clone(b)
	h := b[14:]
	if h[0]>>4 == 6 {
		h[1] = h[1]&0xcf | ecn<<4
		return b
	}
	h[1] = h[1]&0xfc | ecn
	h[10], h[11] = 0, 0
	sum := uint32(0)
	for n := 0; n < 20; n += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[n:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum))
	return b
}

// TestTunnelLeavesItsECN: the packet inside of a GRE tunnel that goes takes over ECT(1) and CE of
// the tunnel (RFC 6040, figure 4), with a header checksum that is right, and nothing else of it changes.
func TestTunnelLeavesItsECN(t *testing.T) {
	const ect1, ect0, ce = 1, 2, 3
	for _, ip := range []struct {
		name     string
		src, dst netip.Addr
	}{
		{"IPv4", netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")},
		{"IPv6", netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")},
	} {
		for _, ethernet := range []bool{false, true} {
			for _, c := range []struct{ inner, outer, want byte }{
				{0, ect1, 0}, {0, ect0, 0}, {ect0, 0, ect0}, {ect0, ect1, ect1}, {ect0, ce, ce}, {ect1, ect0, ect1}, {ect1, ce, ce}, {ce, ect1, ce},
			} {
				t.Run(fmt.Sprintf("%s, Ethernet inside %v, %02b in %02b", ip.name, ethernet, c.inner, c.outer), func(t *testing.T) {
					f := intgen.Flow{Src: ip.src, Dst: ip.dst, Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000}
					orig := f.Frame(20, 1)
					if orig[15] |= 0xc0; ip.name == "IPv6" { // DSCP, flow label
						orig[15], orig[16], orig[17] = 0x8d, 0x2a, 0x71
					}
					orig = withECN(orig, c.inner)
					s := intgen.Source{
						Marking: intgen.ByGRE, GREInserted: true, GREEthernet: ethernet, Bitmap: intgen.DefaultBitmap, MaxHops: 8,
						OuterSrc: netip.MustParseAddr("192.0.2.1"), OuterDst: netip.MustParseAddr("192.0.2.2"),
					}
					marked, err := s.Insert(orig, []intgen.Hop{{NodeID: 1, LatencyNs: 7}})
					if err != nil {
						t.Fatal(err)
					}
					got, i := stripped(t, locators(false)[intgen.ByGRE], withECN(marked, c.outer), 0)
					if want := withECN(orig, c.want); !bytes.Equal(got, want) {
						t.Errorf("reason %v:\nwant %x\ngot  %x", i.Reason, want, got)
					}
				})
			}
		}
	}
}
