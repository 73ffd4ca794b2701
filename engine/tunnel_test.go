package engine

import (
	"bytes"
	"net/netip"
	"testing"

	"intsink/engine/burst"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/exporters/record/recordtest"
	"intsink/flows"
)

// enclosed is a packet with INT in one encapsulation.
type enclosed struct {
	name     string
	int      inthdr.Config
	source   intgen.Source  // of the INT
	original *intgen.Tunnel // what the packet is before INT; nil: none
	around   *intgen.Tunnel // put around the packet with INT; nil: none
	key      flows.Key      // of the original
	l3       int            // outermost IP header of the packet with INT
}

func key(proto uint8, src, dst string, srcPort, dstPort uint16) (k flows.Key) {
	a, b := netip.MustParseAddr(src), netip.MustParseAddr(dst)
	version := uint8(4)
	if a.Is6() {
		version = 6
	}
	k.SetAddrs(a, b)
	k.SetPorts(version, proto, srcPort, dstPort)
	return k
}

// encapsulations are one packet each; the flow of plain(1) is inside of all.
func encapsulations() []enclosed {
	port, gre, marker := uint16(5000), uint16(0x88b6), uint64(0x1122334455667788)
	byPort := inthdr.Config{UDPPort: &port}
	byGRE := inthdr.Config{GREProtocol: &gre}
	byGPE := inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}}
	byGeneve := inthdr.Config{Geneve: &inthdr.Geneve{Port: 6081, OptionClass: 0x0103}}
	byDSCP := inthdr.Config{DSCP: []inthdr.DSCP{{Value: 23, Mask: 63}}}
	byProbe := inthdr.Config{ProbeMarker: &marker}
	inner := key(17, "10.0.0.1", "10.1.0.1", 1024, 8000)
	outer := func(proto uint8, src, dst uint16) flows.Key { return key(proto, "172.16.0.1", "172.17.0.1", src, dst) }
	outer6 := func(dst uint16) flows.Key { return key(17, "2001:db8::1", "2001:db8::2", 50000, dst) }
	options := func(t *intgen.Tunnel) { t.Options = [][]byte{{1, 2, 0, 1, 9, 9, 9, 9}, {1, 2, 0x80, 0}} }
	from := intgen.Source{
		Marking: intgen.ByGRE, GREInserted: true, GREChecksum: true, GREKey: true,
		OuterSrc: netip.MustParseAddr("172.16.0.9"), OuterDst: netip.MustParseAddr("172.17.0.9"), OuterVLAN: 5,
	}
	bridge := from
	bridge.GREEthernet = true
	return []enclosed{
		{name: "udp", int: byPort, key: inner, l3: 14},
		{name: "udp and destination", int: byPort, source: intgen.Source{ThenDestination: true, DestinationWords: 3}, key: inner, l3: 14},
		{name: "udp-new", int: byPort, source: intgen.Source{Marking: intgen.ByNewUDP}, key: inner, l3: 14},
		{
			name: "udp-new and destination", int: byPort, key: inner, l3: 14,
			source: intgen.Source{Marking: intgen.ByNewUDP, ThenDestination: true, DestinationWords: 3},
		},
		{name: "dscp", int: byDSCP, source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63}, key: inner, l3: 14},
		{name: "probe", int: byProbe, source: intgen.Source{Marking: intgen.ByProbeMarker, ProbeMarker: marker}, key: inner, l3: 14},
		{
			name: "gre", int: byGRE, source: intgen.Source{Marking: intgen.ByGRE}, l3: 14,
			original: tunnel(intgen.OverGRE, false, nil), key: outer(47, 0, 0),
		},
		{
			name: "gre and destination", int: byGRE, source: intgen.Source{Marking: intgen.ByGRE, ThenDestination: true, DestinationWords: 9}, l3: 18,
			original: tunnel(intgen.OverGRE, true, overIPv6), key: key(47, "2001:db8::1", "2001:db8::2", 0, 0),
		},
		{name: "gre-inserted", int: byGRE, source: from, key: inner, l3: 14},
		{name: "gre-inserted, Ethernet", int: byGRE, source: bridge, key: inner, l3: 18},
		{
			name: "vxlan-gpe", int: byGPE, source: intgen.Source{Marking: intgen.ByVXLANGPE}, l3: 14,
			original: tunnel(intgen.VXLANGPE, true, nil), key: outer(17, 50000, 4790),
		},
		{
			name: "vxlan", int: byGPE, source: intgen.Source{Marking: intgen.ByVXLANGPE, FromVXLAN: true}, l3: 18,
			original: tunnel(intgen.VXLAN, true, overIPv6), key: outer6(4789),
		},
		{
			name: "geneve", int: byGeneve, source: intgen.Source{Marking: intgen.ByGeneve}, l3: 14,
			original: tunnel(intgen.Geneve, true, options), key: outer(17, 50000, 6081),
		},
		{
			name: "geneve, last of the options", int: byGeneve, source: intgen.Source{Marking: intgen.ByGeneve, GeneveLast: true}, l3: 18,
			original: tunnel(intgen.Geneve, false, overIPv6), key: outer6(6081),
		},
		{name: "udp in vxlan", int: byPort, around: tunnel(intgen.VXLAN, true, nil), key: inner, l3: 14},
		{name: "udp in gre", int: byPort, around: tunnel(intgen.OverGRE, false, nil), key: inner, l3: 14},
		{name: "udp-new in geneve", int: byPort, source: intgen.Source{Marking: intgen.ByNewUDP}, around: tunnel(intgen.Geneve, true, overIPv6), key: inner, l3: 18},
		{
			name: "dscp in ip", int: byDSCP, source: intgen.Source{Marking: intgen.ByDSCP, DSCP: 23, Mask: 63},
			around: tunnel(intgen.IPIP, false, nil), key: inner, l3: 14,
		},
	}
}

// frames are the packet before and with INT.
func (e *enclosed) frames(t *testing.T, discard bool) (orig, marked []byte) {
	t.Helper()
	wrap := func(by *intgen.Tunnel, b []byte) []byte {
		if by == nil {
			return b
		}
		out, err := by.Wrap(b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	orig = wrap(e.original, plain(1))
	marked = withINT(t, orig, func(s *intgen.Source, _ []intgen.Hop) {
		bitmap, hops, port := s.Bitmap, s.MaxHops, s.UDPPort
		*s = e.source
		s.Bitmap, s.MaxHops, s.UDPPort, s.Discard = bitmap, hops, port, discard
	})
	return wrap(e.around, orig), wrap(e.around, marked)
}

// bed takes the INT of e and reports every packet without metadata of the sink's own.
func (e *enclosed) bed(t *testing.T) *bed {
	return newBed(t, func(r *Rules) {
		r.INT = e.int
		r.INT.Version2 = true
		r.Watches[0].Policy.Sample = 1
		r.Report.MdBits = 0
	})
}

func forEachEncapsulation(t *testing.T, f func(t *testing.T, e *enclosed)) {
	for _, e := range encapsulations() {
		t.Run(e.name, func(t *testing.T) { f(t, &e) })
	}
}

// TestEveryEncapsulation: the original leaves, its flow is watched, and the report
// shows the packet with INT from the outermost IP header on.
func TestEveryEncapsulation(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		orig, marked := e.frames(t, false)
		b := e.bed(t)
		b.network.RX = [][]byte{marked, orig}
		b.Poll()
		if len(b.host.TX) != 2 || !bytes.Equal(b.host.TX[0], orig) || !bytes.Equal(b.host.TX[1], orig) {
			t.Errorf("forwarded %x\nwant twice %x", b.host.TX, orig)
		}
		if b.burst.Fast.Len() != 1 || b.burst.Fast.Keys[0] != e.key {
			t.Errorf("%d INT packets, flow %+v; want one, %+v", b.burst.Fast.Len(), b.burst.Fast.Keys[0], e.key)
		}
		b.step(2e6)
		got := b.sealed()
		if len(got) != 1 {
			t.Fatalf("%d report packets, want one", len(got))
		}
		inType := report.IPv4
		if marked[e.l3]>>4 == 6 {
			inType = report.IPv6
		}
		fragment := marked[e.l3:min(len(marked), e.l3+128)]
		if p := got[0]; p[8] != 0<<4|byte(inType) || len(p) < 12+len(fragment) || !bytes.Equal(p[12:12+len(fragment)], fragment) {
			t.Errorf("report %x\nwant a fragment of InType %d: %x", p, inType, fragment)
		}
		if c := b.Snapshot(); c.Links[0].Malformed != [inthdr.NumReasons]uint64{} {
			t.Errorf("malformed %v", c.Links[0].Malformed)
		}
		b.balance()
	})
}

// TestEveryEncapsulationInAChain: wherever the first segment ends, INT is found in
// the second.
func TestEveryEncapsulationInAChain(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		orig, marked := e.frames(t, false)
		b := e.bed(t)
		for cut := 1; cut < len(marked); cut++ {
			b.host.TX = nil
			b.chained(marked, cut)
			if len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], orig) {
				t.Fatalf("cut at %d: forwarded %x\nwant %x", cut, b.host.TX, orig)
			}
			if b.burst.Fast.Len() != 1 || b.burst.Fast.Keys[0] != e.key {
				t.Fatalf("cut at %d: flow %+v, want %+v", cut, b.burst.Fast.Keys[0], e.key)
			}
		}
		b.Close()
	})
}

// chained receives frame from the network in two segments; the first one has cut bytes.
func (b *bed) chained(frame []byte, cut int) {
	b.t.Helper()
	head, tail := b.burst.Vec, b.burst.Kept
	if !b.pool.AllocBulk(head, 1) || !b.pool.AllocBulk(tail, 1) {
		b.t.Fatal("no mbufs")
	}
	copy(head[0].SetLen(cut), frame)
	copy(tail[0].SetLen(len(frame)-cut), frame[cut:])
	head[0].Chain(tail[0])
	b.burst.N, b.burst.Now = 1, b.now
	b.stages.toHost(&b.links[0], b.burst)
	b.exchange(&b.links[0], b.burst)
}

// TestDiscardInEveryEncapsulation: with D set, reported and not forwarded.
func TestDiscardInEveryEncapsulation(t *testing.T) {
	forEachEncapsulation(t, func(t *testing.T, e *enclosed) {
		_, marked := e.frames(t, true)
		b := e.bed(t)
		b.network.RX = [][]byte{marked}
		b.Poll()
		b.step(2e6)
		c := b.Snapshot()
		if len(b.host.TX) != 0 || len(b.sealed()) != 1 || c.Links[0].Direction[burst.ToHost].Dropped[burst.DropDiscard] != 1 {
			t.Errorf("forwarded %d packets, dropped %v", len(b.host.TX), c.Links[0].Direction[burst.ToHost].Dropped)
		}
		b.balance()
	})
}

// TestUnsoundTunnelPassesOrDrops: a packet with INT of a version that is not taken
// leaves as it came, or is dropped.
func TestUnsoundTunnelPassesOrDrops(t *testing.T) {
	for _, e := range encapsulations() {
		if e.original == nil || e.source.ThenDestination {
			continue
		}
		_, marked := e.frames(t, false)
		at := bytes.Index(marked, []byte{0x20, 0, 5, 5}) // the MD header: version 2, Hop ML 5
		marked[at] = 0x70                                // version 7
		for _, drop := range []bool{false, true} {
			b := e.bed(t)
			b.reload(func(r *Rules) { r.DropMalformed = drop })
			b.network.RX = [][]byte{bytes.Clone(marked)}
			b.Poll()
			if !drop && (len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], marked)) || drop && len(b.host.TX) != 0 {
				t.Errorf("%s, drop %v: forwarded %x, received %x", e.name, drop, b.host.TX, marked)
			}
			b.step(2e6)
			if c := b.Snapshot(); c.Links[0].Malformed[inthdr.ReasonVersion] != 1 {
				t.Errorf("%s, drop %v: malformed %v", e.name, drop, c.Links[0].Malformed)
			}
			if p := b.sealed(); len(p) != 1 {
				t.Errorf("%s, drop %v: %d report packets", e.name, drop, len(p))
			} else if m := recordtest.Decode(t, p[0]); m.Reports[0].Dropped != drop {
				t.Errorf("%s, drop %v: %+v", e.name, drop, m)
			}
			b.balance()
		}
	}
}

// TestChainThatCannotBeJoined: INT that goes on beyond what segments are joined to
// is not taken as INT.
func TestChainThatCannotBeJoined(t *testing.T) {
	e := enclosed{
		int:      inthdr.Config{VXLANGPE: &inthdr.VXLANGPE{Port: 4790, NextProtocol: 0x82}},
		source:   intgen.Source{Marking: intgen.ByVXLANGPE, Type: intgen.TypeMX, ThenDestination: true, DestinationWords: 255, SourceOnly: make([]byte, 252*4)},
		original: tunnel(intgen.VXLANGPE, true, nil),
	}
	_, marked := e.frames(t, false)
	b := e.bed(t)
	b.chained(marked, 700)
	if len(b.host.TX) != 1 || !bytes.Equal(b.host.TX[0], marked) {
		t.Errorf("forwarded %x", b.host.TX)
	}
	b.step(2e6)
	if c := b.Snapshot(); c.Links[0].Malformed[inthdr.ReasonSegmented] != 1 {
		t.Errorf("malformed %v", c.Links[0].Malformed)
	}
	b.Close()
}

// TestOptionsBehindINT: a Geneve header has an option of INT-MD and a second option. A worker removes the second
// one where it is INT Destination, and leaves it where it is of another class, also after packets with the former.
func TestOptionsBehindINT(t *testing.T) {
	b := newBed(t, func(r *Rules) { r.INT = everyMarking() })
	orig, err := tunnel(intgen.Geneve, true, nil).Wrap(plain(1))
	if err != nil {
		t.Fatal(err)
	}
	both := withINT(t, orig, func(s *intgen.Source, _ []intgen.Hop) {
		s.Marking, s.GenevePort, s.GeneveClass = intgen.ByGeneve, 6081, 0x0103
		s.ThenDestination, s.DestinationWords = true, 2
	})
	at := bytes.LastIndex(both, []byte{1, 3, 2}) // class and type of INT Destination
	if at < 0 {
		t.Fatalf("no INT Destination in %x", both)
	}
	one := bytes.Clone(both)
	one[at] = 9 // another's class
	for range 5 {
		host, _ := b.pass(both, both)
		sameFrames(t, host, orig, orig)
	}
	host, _ := b.pass(one)
	if len(host) != 1 || !bytes.Contains(host[0], one[at:at+12]) {
		t.Errorf("the option is not in %x", host)
	}
	b.balance()
}
