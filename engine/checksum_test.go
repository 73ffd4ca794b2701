package engine

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// checksumAt is where the TCP or UDP checksum of frame stands.
func checksumAt(t *testing.T, frame []byte) int {
	t.Helper()
	var l packet.Layers
	if packet.Parse(frame, len(frame), &l) != packet.OK || l.Payload == 0 {
		t.Fatalf("no TCP or UDP: %x", frame)
	}
	if l.Proto == packet.ProtoTCP {
		return int(l.L4) + 16
	}
	return int(l.L4) + 6
}

// TestSampleOfASourceThatLeavesTheChecksum: bytes as a public P4 program sends them.
func TestSampleOfASourceThatLeavesTheChecksum(t *testing.T) {
	c := inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}, Version2: true}
	in := unhex(t, "020000000002020000000001 0800 455c003700010000401166570a0000010a000002 03e807d0002322e6 10040000 2000010780000000 00000000 00000064 7061796c6f6164")
	updated := unhex(t, "020000000002020000000001 0800 4500002300010000401166c70a0000010a000002 03e807d0000fd47d 7061796c6f6164")
	out, l := through(t, c, in)
	expectBoth(t, out, l, updated, inthdr.ReasonNone) // wrong, as it was
	c.KeepChecksum = true
	binary.BigEndian.PutUint16(updated[40:], 0x22e6)
	out, l = through(t, c, in)
	expectBoth(t, out, l, updated, inthdr.ReasonNone)
}

// TestChecksumKept: a source left the L4 checksum as its host had sent it; so does the
// sink that is told to.
func TestChecksumKept(t *testing.T) {
	marker := uint64(0x1122334455667788)
	for _, c := range []struct {
		name     string
		source   intgen.Source
		original *intgen.Tunnel
		tcp, v6  bool
	}{
		{name: "UDP, port"},
		{name: "UDP over IPv6, port", v6: true},
		{name: "UDP, DSCP", source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}},
		{name: "TCP, DSCP", source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}, tcp: true},
		{name: "TCP over IPv6, DSCP", source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}, tcp: true, v6: true},
		{name: "TCP, probe marker", source: intgen.Source{Marking: intgen.ByProbeMarker, ProbeMarker: marker}, tcp: true},
		{name: "VXLAN-GPE", source: intgen.Source{Marking: intgen.ByVXLANGPE}, original: tunnel(intgen.VXLANGPE, true, nil)},
		{name: "VXLAN", source: intgen.Source{Marking: intgen.ByVXLANGPE, FromVXLAN: true}, original: tunnel(intgen.VXLAN, true, overIPv6)},
		{name: "Geneve", source: intgen.Source{Marking: intgen.ByGeneve}, original: tunnel(intgen.Geneve, true, nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := intgen.Flow{
				SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
				Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"),
			}
			if c.tcp {
				f.Proto = intgen.TCP
			}
			if c.v6 {
				f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
			}
			orig := f.Frame(20, 1)
			if c.original != nil {
				var err error
				if orig, err = c.original.Wrap(orig); err != nil {
					t.Fatal(err)
				}
			}
			marked := withINT(t, bytes.Clone(orig), func(s *intgen.Source, _ []intgen.Hop) {
				bitmap, hops, port := s.Bitmap, s.MaxHops, s.UDPPort
				*s = c.source
				s.Bitmap, s.MaxHops, s.UDPPort = bitmap, hops, port
			})
			from, to := checksumAt(t, orig), checksumAt(t, marked)
			sum := orig[from : from+2]
			if sum[0]|sum[1] == 0 {
				t.Fatal("the original has no checksum")
			}
			port := uint16(5000)
			rules := inthdr.Config{
				UDPPort: &port, ProbeMarker: &marker, Version2: true, KeepChecksum: true,
				VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}, Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103},
			}
			if c.source.Marking == intgen.ByDSCP {
				rules.DSCP, rules.ProbeMarker = []inthdr.DSCP{{Value: 23, Mask: 63}}, nil
			}
			copy(marked[to:], sum)
			out, l := through(t, rules, marked)
			expectBoth(t, out, l, orig, inthdr.ReasonNone)

			rules.KeepChecksum = false
			if out, _ = through(t, rules, marked); bytes.Equal(out[0], orig) {
				t.Error("the update leaves what was left alone")
			}
			copy(marked[to:], []byte{0, 0})
			rules.KeepChecksum = true
			if out, _ = through(t, rules, marked); !c.tcp && !bytes.Equal(out[0][from:from+2], []byte{0, 0}) {
				t.Errorf("no checksum became %x", out[0][from:from+2])
			}
		})
	}
}
