package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// nested is a packet with INT in both layers of a tunnel (INT 2.1, section "INT over
// TCP/UDP").
type nested struct {
	name   string
	tunnel *intgen.Tunnel
	outer  intgen.Source
}

func nestings() []nested {
	gre := intgen.Source{
		Marking: intgen.ByGRE, GREInserted: true, GREChecksum: true,
		OuterSrc: netip.MustParseAddr("172.16.0.9"), OuterDst: netip.MustParseAddr("172.17.0.9"),
	}
	return []nested{
		{"udp around vxlan", tunnel(intgen.VXLAN, true, nil), intgen.Source{}},
		{"udp around geneve over IPv6", tunnel(intgen.Geneve, true, overIPv6), intgen.Source{ThenDestination: true, DestinationWords: 2}},
		{"udp-new in front of vxlan", tunnel(intgen.VXLAN, true, nil), intgen.Source{Marking: intgen.ByNewUDP}},
		{"udp-new in front of ip in ip", tunnel(intgen.IPIP, false, nil), intgen.Source{Marking: intgen.ByNewUDP}},
		{"vxlan-gpe", tunnel(intgen.VXLANGPE, true, nil), intgen.Source{Marking: intgen.ByVXLANGPE}},
		{"vxlan-gpe made of vxlan", tunnel(intgen.VXLAN, true, overIPv6), intgen.Source{Marking: intgen.ByVXLANGPE, FromVXLAN: true}},
		{"geneve", tunnel(intgen.Geneve, true, nil), intgen.Source{Marking: intgen.ByGeneve}},
		{"gre", tunnel(intgen.OverGRE, false, nil), intgen.Source{Marking: intgen.ByGRE}},
		{"gre that the source made", nil, gre},
	}
}

// frames are the original and the packet with INT in both layers; set changes the
// inner source.
func (n *nested) frames(t *testing.T, set func(*intgen.Source)) (orig, marked []byte) {
	t.Helper()
	orig = plain(1)
	marked = withINT(t, orig, func(s *intgen.Source, _ []intgen.Hop) {
		if set != nil {
			set(s)
		}
	})
	if n.tunnel != nil {
		var errs [2]error
		orig, errs[0] = n.tunnel.Wrap(orig)
		marked, errs[1] = n.tunnel.Wrap(marked)
		if errs != [2]error{} {
			t.Fatal(errs)
		}
	}
	marked = withINT(t, marked, func(s *intgen.Source, _ []intgen.Hop) {
		bitmap, hops, port := s.Bitmap, s.MaxHops, s.UDPPort
		*s = n.outer
		s.Bitmap, s.MaxHops, s.UDPPort = bitmap, hops, port
	})
	return orig, marked
}

func nestedBed(t *testing.T, changes ...func(*Rules)) *bed {
	port, gre := uint16(5000), uint16(0x88b6)
	return newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{
			UDPPort: &port, GREProtocol: &gre, VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82},
			Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}, Version2: true,
		}
		r.Watches[0].Policy.Sample = 1
		for _, change := range changes {
			change(r)
		}
	})
}

// TestINTInBothLayers: the original leaves, wherever the first segment ends; one
// packet with INT, one report.
func TestINTInBothLayers(t *testing.T) {
	for _, n := range nestings() {
		t.Run(n.name, func(t *testing.T) {
			orig, marked := n.frames(t, nil)
			b := nestedBed(t)
			b.network.RX = [][]byte{bytes.Clone(marked), bytes.Clone(marked)} // the second is like the one before it
			b.Poll()
			if len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], orig) || !bytes.Equal(b.host.TX[1], orig) {
				t.Fatalf("forwarded %x\nwant twice %x", b.host.TX, orig)
			}
			b.step(2e6)
			c := b.Snapshot()
			if b.sealed(); c.Links[0].INT[inthdr.MD] != 2 || c.Collectors[0].Reports != 2 || c.Links[0].Malformed != [inthdr.NumReasons]uint64{} {
				t.Errorf("%d packets with INT, %d reports, malformed %v", c.Links[0].INT[inthdr.MD], c.Collectors[0].Reports, c.Links[0].Malformed)
			}
			for cut := 1; cut < len(marked); cut += 7 {
				b.host.TX = nil
				if b.chained(marked, cut); len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], orig) {
					t.Fatalf("cut at %d: forwarded %x\nwant %x", cut, b.host.TX, orig)
				}
			}
			b.Close()
		})
	}
}

// TestDiscardInside: the inner packet's D discards the packet.
func TestDiscardInside(t *testing.T) {
	for _, n := range nestings() {
		_, marked := n.frames(t, func(s *intgen.Source) { s.Discard = true })
		b := nestedBed(t)
		b.network.RX = [][]byte{marked}
		b.Poll()
		b.step(2e6)
		if c := b.Snapshot(); len(b.host.TX) != 0 || c.Links[0].Direction[burst.ToHost].Dropped[burst.DropDiscard] != 1 {
			t.Errorf("%s: forwarded %d packets, dropped %v", n.name, len(b.host.TX), c.Links[0].Direction[burst.ToHost].Dropped)
		}
		b.balance()
	}
}

// TestUnsoundInside: unsound INT inside stays where it is, or drops the packet.
func TestUnsoundInside(t *testing.T) {
	for _, n := range nestings() {
		for _, drop := range []bool{false, true} {
			_, marked := n.frames(t, nil)
			at := bytes.LastIndex(marked, []byte{0x20, 0, 5, 5}) // the inner MD header
			marked[at] = 0x70                                    // version 7
			b := nestedBed(t)
			b.reload(func(r *Rules) { r.DropMalformed = drop })
			b.network.RX = [][]byte{marked}
			b.Poll()
			if drop && len(b.host.TX) != 0 || !drop && (len(b.host.TX) != 1 || !bytes.Contains(b.host.TX[0], []byte{0x70, 0, 5, 5})) {
				t.Errorf("%s, drop %v: forwarded %x", n.name, drop, b.host.TX)
			}
			b.step(2e6)
			if c := b.Snapshot(); c.Links[0].Malformed[inthdr.ReasonVersion] != 1 {
				t.Errorf("%s, drop %v: malformed %v", n.name, drop, c.Links[0].Malformed)
			}
			b.balance()
		}
	}
}

// TestReportOfUnsoundInside: the report of malformed INT shows the packet as it
// leaves: the outer INT is gone.
func TestReportOfUnsoundInside(t *testing.T) {
	for _, n := range nestings() {
		_, marked := n.frames(t, nil)
		marked[bytes.LastIndex(marked, []byte{0x20, 0, 5, 5})] = 0x70 // version 7
		b := nestedBed(t)
		b.reload(func(r *Rules) { r.Watches[0].Policy.Sample = 0 })
		b.network.RX = [][]byte{marked}
		b.Poll()
		b.step(2e6)
		var shown bool
		want := b.host.TX[0][:min(len(b.host.TX[0]), 128-4)]
		for _, p := range b.sealed() {
			shown = shown || bytes.Contains(p, want)
		}
		if !shown {
			t.Errorf("%s: no report shows %x", n.name, want)
		}
		b.balance()
	}
}

// TestLeakInside: INT from a host inside of a tunnel is a leak as well.
func TestLeakInside(t *testing.T) {
	wrapped, err := tunnel(intgen.VXLAN, true, nil).Wrap(withINT(t, plain(1), nil))
	if err != nil {
		t.Fatal(err)
	}
	b := nestedBed(t)
	b.host.RX = [][]byte{wrapped}
	b.Poll()
	b.step(2e6)
	if c := b.Snapshot(); c.Links[0].ToNetwork.Leaked != 1 || len(b.network.TX) != 1 || !bytes.Equal(b.network.TX[0], wrapped) {
		t.Errorf("%d leaks, forwarded %x", c.Links[0].ToNetwork.Leaked, b.network.TX)
	}
	b.balance()
}
