package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

// setECN sets the ECN field of the IP header at offset at, its checksum computed.
func setECN(b []byte, at int, ecn byte) {
	h := b[at:]
	if h[0]>>4 == 6 {
		h[1] = h[1]&0xcf | ecn<<4
		return
	}
	h[1] = h[1]&0xfc | ecn
	h[10], h[11] = 0, 0
	binary.BigEndian.PutUint16(h[10:], ^onesSum(h[:20]))
}

// rfc6040 is figure 4 of RFC 6040: rows are the ECN field inside, columns that of the
// tunnel; Not-ECT 0, ECT(1) 1, ECT(0) 2, CE 3, and 9 where the packet is dropped.
var rfc6040 = [4][4]byte{
	0: {0, 0, 0, 9},
	1: {1, 1, 1, 3},
	2: {2, 1, 2, 3},
	3: {3, 3, 3, 3},
}

// tunnelled is a packet inside of a GRE tunnel that its source made for INT.
type tunnelled struct {
	name             string
	inner, outer     bool // IPv6
	ethernet, tagged bool // the whole frame is inside, with a VLAN tag
}

func (c tunnelled) frames(t *testing.T, inner, outer byte) (orig, marked []byte) {
	t.Helper()
	f := intgen.Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2}, Proto: intgen.UDP, SrcPort: 1024, DstPort: 8000,
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.1.0.1"),
	}
	if c.inner {
		f.Src, f.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	orig = f.Frame(20, 1)
	at := 14
	if c.tagged {
		orig = append(append(bytes.Clone(orig[:12]), 0x81, 0, 0, 7), orig[12:]...)
		at = 18
	}
	setECN(orig, at, inner)
	s := intgen.Source{
		Marking: intgen.ByGRE, GREInserted: true, GREChecksum: true, GREEthernet: c.ethernet, Bitmap: intgen.DefaultBitmap, MaxHops: 8,
		OuterSrc: netip.MustParseAddr("172.16.0.9"), OuterDst: netip.MustParseAddr("172.17.0.9"),
	}
	if c.outer {
		s.OuterSrc, s.OuterDst = netip.MustParseAddr("2001:db8:1::1"), netip.MustParseAddr("2001:db8:1::2")
	}
	marked, err := s.Insert(bytes.Clone(orig), []intgen.Hop{{NodeID: 1, Ingress: 1, Egress: 2, LatencyNs: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	setECN(marked, 14, outer)
	return orig, marked
}

// TestCongestionMarksOfTunnels: what queues wrote into the ECN field of a GRE tunnel
// that goes is in the packet that leaves, or the packet is dropped.
func TestCongestionMarksOfTunnels(t *testing.T) {
	gre := uint16(0x88b6)
	for _, c := range []tunnelled{
		{name: "IPv4 in IPv4"},
		{name: "IPv6 in IPv4", inner: true},
		{name: "IPv4 in IPv6", outer: true},
		{name: "IPv6 in IPv6", inner: true, outer: true},
		{name: "Ethernet in IPv4", ethernet: true},
		{name: "tagged Ethernet with IPv6 in IPv6", ethernet: true, tagged: true, inner: true, outer: true},
	} {
		for inner := range byte(4) {
			for outer := range byte(4) {
				t.Run(fmt.Sprintf("%s, %02b in %02b", c.name, inner, outer), func(t *testing.T) {
					orig, marked := c.frames(t, inner, outer)
					b := newBed(t, func(r *Rules) {
						r.INT = inthdr.Config{GREProtocol: &gre, Version2: true}
						r.Watches[0].Policy.Thresholds.DropInterval = 1e9
					})
					for range 2 { // the second is like one that is known
						b.network.RX = [][]byte{bytes.Clone(marked)}
						b.Poll()
					}
					b.step(2e6)
					d, reported := b.Snapshot().Links[0].Direction[burst.ToHost], b.Snapshot().Reported[event.Drop]
					if want := rfc6040[inner][outer]; want == 9 {
						if len(b.host.TX) != 0 || d.Dropped[burst.DropCongested] != 2 || reported != 1 {
							t.Errorf("left %x, dropped %v, %d drop reports", b.host.TX, d.Dropped, reported)
						}
					} else {
						at := 14
						if c.tagged {
							at = 18
						}
						if setECN(orig, at, want); len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], orig) || !bytes.Equal(b.host.TX[1], orig) || d.Forwarded != 2 {
							t.Errorf("left %x\nwant twice %x", b.host.TX, orig)
						}
					}
					b.balance()
				})
			}
		}
	}
}

// TestCongestedInASecondTunnel: a mark of the inner of two tunnels that go is lost like one of the outer, and the drop is
// reported alike.
func TestCongestedInASecondTunnel(t *testing.T) {
	gre := uint16(0x88b6)
	_, marked := tunnelled{}.frames(t, 0, 3)
	marked = withINT(t, marked, func(s *intgen.Source, _ []intgen.Hop) {
		bitmap, hops := s.Bitmap, s.MaxHops
		*s = nestings()[8].outer
		s.Bitmap, s.MaxHops = bitmap, hops
	})
	b := newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{GREProtocol: &gre, Version2: true}
		r.Watches[0].Policy.Thresholds.DropInterval = 1e9
	})
	b.network.RX = [][]byte{marked}
	b.Poll()
	b.step(2e6)
	if d, reported := b.Snapshot().Links[0].Direction[burst.ToHost], b.Snapshot().Reported[event.Drop]; len(b.host.TX) != 0 || d.Dropped[burst.DropCongested] != 1 || reported != 1 {
		t.Errorf("left %x, dropped %v, %d drop reports", b.host.TX, d.Dropped, reported)
	}
	b.balance()
}

// TestCongestedWithoutWatches: a packet that belongs to no flow is dropped and counted
// as well.
func TestCongestedWithoutWatches(t *testing.T) {
	gre := uint16(0x88b6)
	_, marked := tunnelled{}.frames(t, 0, 3)
	b := newBed(t, func(r *Rules) {
		r.INT = inthdr.Config{GREProtocol: &gre, Version2: true}
		r.Watches = nil
	})
	b.network.RX = [][]byte{marked}
	b.Poll()
	b.step(2e6)
	if d := b.Snapshot().Links[0].Direction[burst.ToHost]; len(b.host.TX) != 0 || d.Dropped[burst.DropCongested] != 1 {
		t.Errorf("left %x, dropped %v", b.host.TX, d.Dropped)
	}
	b.balance()
}

// TestCongestionOfOtherProtocols: what is no IP inside has no field to mark.
func TestCongestionOfOtherProtocols(t *testing.T) {
	gre := uint16(0x88b6)
	in := ipv4(3, 47, unhex(t, "0000 88b6 18038035 20000106 00000000 00000000 0001020304")) // EtherType 0x8035, RARP
	want := append(append(bytes.Clone(in[:12]), 0x80, 0x35), in[len(in)-5:]...)
	out, l := through(t, inthdr.Config{GREProtocol: &gre, Version2: true}, in)
	expectBoth(t, out, l, want, inthdr.ReasonNone)
}

// TestCongestionMarksOfOneFlow: packets of one flow differ in nothing but their ECN
// fields, and each leaves with its own.
func TestCongestionMarksOfOneFlow(t *testing.T) {
	gre := uint16(0x88b6)
	for _, c := range []tunnelled{
		{name: "IPv4 in IPv4"},
		{name: "IPv6 in IPv6", inner: true, outer: true},
		{name: "Ethernet in IPv4", ethernet: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, func(r *Rules) { r.INT = inthdr.Config{GREProtocol: &gre, Version2: true} })
			var want [][]byte
			dropped := uint64(0)
			for n := range 4 * 16 {
				inner, outer := byte(n>>2&3), byte(n&3)
				orig, marked := c.frames(t, inner, outer)
				if ecn := rfc6040[inner][outer]; ecn == 9 {
					dropped++
				} else {
					setECN(orig, 14, ecn)
					want = append(want, orig)
				}
				if b.network.RX = append(b.network.RX, marked); n%3 == 0 {
					b.Poll()
				}
			}
			b.Poll()
			if len(b.host.TX) != len(want) {
				t.Fatalf("%d packets left, want %d", len(b.host.TX), len(want))
			}
			for n := range want {
				if !bytes.Equal(b.host.TX[n], want[n]) {
					t.Errorf("packet %d left as %x\nwant %x", n, b.host.TX[n], want[n])
				}
			}
			b.step(2e6)
			if d := b.Snapshot().Links[0].Direction[burst.ToHost].Dropped[burst.DropCongested]; d != dropped || dropped == 0 {
				t.Errorf("%d dropped, want %d", d, dropped)
			}
			b.balance()
		})
	}
}
