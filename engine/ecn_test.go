package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
)

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

// TestCongestionOfOtherProtocols: what is no IP inside has no field to mark.
func TestCongestionOfOtherProtocols(t *testing.T) {
	gre := uint16(0x88b6)
	in := ipv4(3, 47, unhex(t, "0000 88b6 18038035 20000106 00000000 00000000 0001020304")) // EtherType 0x8035, RARP
	want := append(append(bytes.Clone(in[:12]), 0x80, 0x35), in[len(in)-5:]...)
	out, l := through(t, inthdr.Config{GREProtocol: &gre, Version2: true}, in)
	expectBoth(t, out, l, want, inthdr.ReasonNone)
}

// TestCongestionMarksOfTunnels: what queues wrote into the ECN field of a GRE tunnel that goes is in the packet that leaves,
// or the packet is dropped; packets of one flow differ in nothing else, and each leaves with its own.
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
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, func(r *Rules) {
				r.INT = inthdr.Config{GREProtocol: &gre, Version2: true}
				r.Watches[0].Policy.Thresholds.DropInterval = 1e9
			})
			at := 14
			if c.tagged {
				at = 18
			}
			var want [][]byte
			dropped := uint64(0)
			for n := range 4 * 16 { // each four times, so that some are like one that is known
				inner, outer := byte(n>>2&3), byte(n&3)
				orig, marked := c.frames(t, inner, outer)
				if ecn := rfc6040[inner][outer]; ecn == 9 {
					dropped++
				} else {
					setECN(orig, at, ecn)
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
			d, reported := b.Snapshot().Links[0].Direction[burst.ToHost].Dropped[burst.DropCongested], b.Snapshot().Reported[event.Drop]
			if d != dropped || dropped == 0 || reported != 1 {
				t.Errorf("%d dropped, want %d, %d drop reports", d, dropped, reported)
			}
			b.balance()
		})
	}
}
