// Packets for tests: with INT of three hops, in tunnels, with INT in two layers.

package bursttest

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/internal/checksum"
)

// Plain is an original packet of flow n.
func Plain(n int) []byte {
	f := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), Dst: netip.AddrFrom4([4]byte{10, 1, 0, 1}),
		Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
	}
	return f.Frame(20, uint32(n))
}

// TCP is a TCP packet without INT.
func TCP() []byte {
	f := intgen.Flow{Proto: intgen.TCP, SrcPort: 1, DstPort: 2, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1")}
	return f.Frame(21, 1)
}

// FlowWith has a DSCP, and what change makes of it.
func FlowWith(dscp uint8, change func(*intgen.Flow)) *intgen.Flow {
	f := &intgen.Flow{
		Src: netip.MustParseAddr("10.1.0.1"), Dst: netip.MustParseAddr("10.0.0.9"), Proto: intgen.UDP, SrcPort: 8000, DstPort: 1024, DSCP: dscp,
	}
	if change != nil {
		change(f)
	}
	return f
}

// SixTCP makes a flow one of TCP over IPv6, in a VLAN.
func SixTCP(f *intgen.Flow) {
	f.Src, f.Dst, f.Proto, f.VLAN = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), intgen.TCP, 7
}

// WithINT puts three hops into frame; change sets what is special about them.
func WithINT(t testing.TB, frame []byte, change func(*intgen.Source, []intgen.Hop)) []byte {
	s := &intgen.Source{UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 8}
	hops := make([]intgen.Hop, 3)
	for i := range hops {
		hops[i] = intgen.Hop{NodeID: uint32(103 - i), Ingress: 1, Egress: 2, LatencyNs: 10_000}
	}
	if change != nil {
		change(s, hops)
	}
	out, err := s.Insert(frame, hops)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ByDSCP marks INT by DSCP 23.
func ByDSCP(s *intgen.Source, _ []intgen.Hop) { s.Marking, s.DSCP, s.Mask = intgen.ByDSCP, 23, 63 }

// Discarded has the D flag set.
func Discarded(s *intgen.Source, _ []intgen.Hop) { s.Discard = true }

// Like gives a source all that s says but for what it reports of hops.
func Like(s intgen.Source) func(*intgen.Source, []intgen.Hop) {
	return func(to *intgen.Source, _ []intgen.Hop) {
		s.Bitmap, s.MaxHops, s.UDPPort = to.Bitmap, to.MaxHops, to.UDPPort
		*to = s
	}
}

// Tunnel is one around packets like Plain.
func Tunnel(e intgen.Encap, ethernet bool, change func(*intgen.Tunnel)) *intgen.Tunnel {
	t := &intgen.Tunnel{
		Encap: e, SrcMAC: [6]byte{2, 0, 0, 0, 0, 3}, DstMAC: [6]byte{2, 0, 0, 0, 0, 4},
		Src: netip.MustParseAddr("172.16.0.1"), Dst: netip.MustParseAddr("172.17.0.1"),
		SrcPort: 50000, VNI: 7, Ethernet: ethernet, Checksum: true,
	}
	if change != nil {
		change(t)
	}
	return t
}

// OverIPv6 makes a tunnel one over IPv6, in a VLAN.
func OverIPv6(t *intgen.Tunnel) {
	t.Src, t.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	t.VLAN = 7
}

// Wrap puts frame into w.
func Wrap(t testing.TB, w *intgen.Tunnel, frame []byte) []byte {
	t.Helper()
	out, err := w.Wrap(frame)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// GRESource makes a GRE tunnel for its INT.
func GRESource() intgen.Source {
	return intgen.Source{
		Marking: intgen.ByGRE, GREInserted: true, GREChecksum: true,
		OuterSrc: netip.MustParseAddr("172.16.0.9"), OuterDst: netip.MustParseAddr("172.17.0.9"),
	}
}

// Nested is a packet with INT in both layers of a tunnel (INT 2.1, section "INT over
// TCP/UDP").
type Nested struct {
	Name   string
	Tunnel *intgen.Tunnel // nil: the outer source makes it
	Outer  intgen.Source
}

// Nestings are one of each kind.
func Nestings() []Nested {
	return []Nested{
		{"udp around vxlan", Tunnel(intgen.VXLAN, true, nil), intgen.Source{}},
		{"udp around geneve over IPv6", Tunnel(intgen.Geneve, true, OverIPv6), intgen.Source{ThenDestination: true, DestinationWords: 2}},
		{"udp-new in front of vxlan", Tunnel(intgen.VXLAN, true, nil), intgen.Source{Marking: intgen.ByNewUDP}},
		{"udp-new in front of ip in ip", Tunnel(intgen.IPIP, false, nil), intgen.Source{Marking: intgen.ByNewUDP}},
		{"vxlan-gpe", Tunnel(intgen.VXLANGPE, true, nil), intgen.Source{Marking: intgen.ByVXLANGPE}},
		{"vxlan-gpe made of vxlan", Tunnel(intgen.VXLAN, true, OverIPv6), intgen.Source{Marking: intgen.ByVXLANGPE, FromVXLAN: true}},
		{"geneve", Tunnel(intgen.Geneve, true, nil), intgen.Source{Marking: intgen.ByGeneve}},
		{"gre", Tunnel(intgen.OverGRE, false, nil), intgen.Source{Marking: intgen.ByGRE}},
		{"gre that the source made", nil, GRESource()},
	}
}

// Frames are the original and the packet with INT in both layers; set changes the
// inner source.
func (n *Nested) Frames(t testing.TB, set func(*intgen.Source, []intgen.Hop)) (orig, marked []byte) {
	t.Helper()
	orig = Plain(1)
	marked = WithINT(t, orig, set)
	if n.Tunnel != nil {
		orig, marked = Wrap(t, n.Tunnel, orig), Wrap(t, n.Tunnel, marked)
	}
	return orig, WithINT(t, marked, Like(n.Outer))
}

// ByPort takes INT over UDP port 5000.
func ByPort() inthdr.Config {
	port := uint16(5000)
	return inthdr.Config{UDPPort: &port, Version2: true}
}

// InTunnels takes INT over UDP port 5000, GRE, VXLAN-GPE and Geneve.
func InTunnels() inthdr.Config {
	c, gre := ByPort(), uint16(0x88b6)
	c.GREProtocol, c.VXLANGPE, c.Geneve = &gre, &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}
	return c
}

// Unhex turns fixtures with spaces into bytes.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// IPv4 is Ethernet and IPv4 in front of body, all lengths and the header checksum right.
func IPv4(tos, proto byte, body []byte) []byte {
	b := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0}, make([]byte, 20)...)
	h := b[14:]
	h[0], h[1], h[5], h[8], h[9] = 0x45, tos, 0x37, 64, proto
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(body)))
	copy(h[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(h[10:], ^checksum.Sum(h))
	return append(b, body...)
}

// UDP is a UDP header without checksum in front of body.
func UDP(dst uint16, body []byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{3, 0xe8}, dst)
	return append(binary.BigEndian.AppendUint16(b, uint16(8+len(body))), append([]byte{0, 0}, body...)...)
}

// SetECN sets the ECN field of the IP header at offset at, its checksum computed.
func SetECN(b []byte, at int, ecn byte) {
	h := b[at:]
	if h[0]>>4 == 6 {
		h[1] = h[1]&0xcf | ecn<<4
		return
	}
	h[1] = h[1]&0xfc | ecn
	h[10], h[11] = 0, 0
	binary.BigEndian.PutUint16(h[10:], ^checksum.Sum(h[:20]))
}

// Adapting takes INT over UDP port 5000, DSCP 23 and GRE.
func Adapting() inthdr.Config {
	c, gre := ByPort(), uint16(0x88b6)
	c.GREProtocol, c.DSCP = &gre, []inthdr.DSCP{{Value: 23, Mask: 63}}
	return c
}

// Keeping is Adapting for sources that leave the L4 checksum as the host had sent it.
func Keeping() inthdr.Config {
	c := Adapting()
	c.KeepChecksum = true
	return c
}
