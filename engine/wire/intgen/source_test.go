package intgen

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
)

// insertedBytes is what a source puts behind the UDP header of the example packet.
func insertedBytes(t *testing.T, s Source, hops []Hop) []byte {
	t.Helper()
	s.UDPPort, s.MaxHops = 5000, 8
	orig := exampleFlow(UDP).Frame(4, 0)
	out, err := s.Insert(orig, hops)
	if err != nil {
		t.Fatal(err)
	}
	return out[42 : 42+len(out)-len(orig)]
}

func TestHeaderFields(t *testing.T) {
	full := []Hop{{
		NodeID: 0x01020304, Ingress: 0x1112, Egress: 0x2122, LatencyNs: 0x31323334, QueueID: 0x41, QueueOccupancy: 0x424344,
		IngressTimestamp: 0x5152535455565758, EgressTimestamp: 0x6162636465666768, Level2Ingress: 0x71727374, Level2Egress: 0x75767778,
		TxUtilization: 0x81828384, BufferID: 0x91, BufferOccupancy: 0x929394,
	}}
	for _, c := range []struct {
		name   string
		source Source
		hops   []Hop
		want   string
	}{
		// 4 + 1 + 4: Ver, flags and 12 reserved bits in front of Hop ML and the count.
		{"D, E, M and reserved bits", Source{Discard: true, HopExceeded: true, MTUExceeded: true, Reserved: 0xabc, Bitmap: 0x8000}, nil,
			"140307d0 2f578108 80000000 00000000"},
		{"only E", Source{HopExceeded: true, Bitmap: 0x8000}, nil, "140307d0 24000108 80000000 00000000"},
		{"MX: D and reserved bits", Source{Type: TypeMX, Discard: true, Reserved: 0xabc, Bitmap: 0x8000}, nil,
			"340307d0 28000abc 80000000 00000000"},
		{"Destination", Source{Type: TypeDestination, DestinationWords: 1}, full, "240107d0 de570000"},
		{"every bit", Source{Bitmap: 0xffff}, full,
			"141607d0 20001307 ffff0000 00000000 01020304 11122122 31323334 41424344 5152535455565758 6162636465666768" +
				"71727374 75767778 81828384 91929394 ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff"},
		// INT 2.1, section "Example with INT-MD including domain specific source-only
		// metadata", with one hop less.
		{"source-only", Source{Bitmap: 0x8000, DomainID: 0x5453, DSInstruction: 0x8000, DSFlags: 0x4000,
			SourceOnly: []byte{0xa6, 0x1a, 0xf6, 0xb1, 0x64, 0x7d, 0, 0}}, exampleHops(2),
			"140707d0 20000106 80005453 80004000 00000066 00000065 a61af6b1 647d0000"},
		// The checksum complement is behind the domain specific metadata.
		{"domain at each hop", Source{Bitmap: 0x8001, DomainID: 1, DSInstruction: 0xc000, DomainPerHop: 8}, exampleHops(1),
			"140707d0 20000407 80010001 c0000000 00000065 00000066 00000067 ffffffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := insertedBytes(t, c.source, c.hops), unhex(t, c.want); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

// INT 1.0, section 4.7: bit 6 asks for eight bytes, bits 4 and 5 for four. June 2016, section
// 5.3.3: each bit asks for four bytes, and their highest bit marks the last hop.
func TestOldHeaderFields(t *testing.T) {
	hops := []Hop{{
		NodeID: 0x81020304, Ingress: 0x1112, Egress: 0x2122, IngressTimestamp: 0x5152535455565758, EgressTimestamp: 0x6162636465666768,
		Level2Ingress: 0x71727374, Level2Egress: 0x75767778, QueueID: 1, QueueOccupancy: 0x20304, BufferID: 1,
	}}
	for _, c := range []struct {
		name   string
		source Source
		want   string
	}{
		{"1.0", Source{Marking: ByGeneve, Format: Format1, Bitmap: 0x0e81, MaxHops: 8, HopExceeded: true, Reserved: 0x3ff},
			"117fe607 0e810000 55565758 65666768 71727374 75767778 ffffffff ffffffff"},
		{"1.0, C and M", Source{Marking: ByGeneve, Format: Format1, MaxHops: 8, Discard: true, MTUExceeded: true}, "12800007 00000000"},
		{"2016", Source{Marking: ByGeneve, Format: Format2016, Bitmap: 0xdf80, MaxHops: 8, Discard: true, HopExceeded: true, Reserved: 0x1f},
			"0fe80801 df800000 01020304 00001112 00020304 55565758 00002122 7fffffff 00000000 ffffffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hs, err := c.source.headers(hops, 254)
			if err != nil || len(hs) != 1 {
				t.Fatal(hs, err)
			}
			if want := unhex(t, c.want); !bytes.Equal(hs[0].body, want) {
				t.Errorf("got  %x\nwant %x", hs[0].body, want)
			}
		})
	}
}

func TestInsertErrors(t *testing.T) {
	udp, gre := exampleFlow(UDP).Frame(4, 0), exampleFlow(GRE).Frame(0, 0)
	gnv, gpe, vx := wrap(t, exampleTunnel(Geneve)), wrap(t, exampleTunnel(VXLANGPE)), wrap(t, exampleTunnel(VXLAN))
	full := exampleTunnel(Geneve)
	full.Options = [][]byte{append([]byte{1, 2, 3, 31}, make([]byte, 124)...), append([]byte{1, 2, 3, 30}, make([]byte, 120)...)}
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		name   string
		orig   []byte
		source Source
		hops   int
		want   error
	}{
		{"ARP", unhex(t, "ffffffffffff 020000000001 0806 0001080006040001020000000001 0a000001 000000000000 0a000002"), Source{}, 0, ErrNotIP},
		{"ICMP by DSCP", exampleFlow(1).Frame(8, 0), Source{Marking: ByDSCP}, 0, ErrProto},
		{"no GRE", udp, Source{Marking: ByGRE}, 0, ErrProto},
		{"GRE cut short", gre, Source{Marking: ByGRE}, 0, ErrProto},
		{"VXLAN is not GPE", vx, Source{Marking: ByVXLANGPE}, 0, ErrProto},
		{"GPE is not VXLAN", gpe, Source{Marking: ByVXLANGPE, FromVXLAN: true}, 0, ErrProto},
		{"no Geneve", gpe, Source{Marking: ByGeneve}, 0, ErrProto},
		{"shim too long", udp, Source{Bitmap: 0xffff}, 14, ErrLength},
		{"Hop ML too long", udp, Source{Bitmap: 0xffff, DomainPerHop: 52}, 0, ErrLength},
		{"Geneve option too long", gnv, Source{Marking: ByGeneve, Bitmap: 0xf000}, 8, ErrLength},
		{"Geneve options too long", wrap(t, full), Source{Marking: ByGeneve, Type: TypeDestination}, 0, ErrLength},
		{"packet too long", exampleFlow(UDP).Frame(65500, 0), Source{}, 0, ErrLength},
		{"chain by DSCP", udp, Source{Marking: ByDSCP, ThenDestination: true}, 0, ErrChain},
		{"chain by probe marker", udp, Source{Marking: ByProbeMarker, ThenDestination: true}, 0, ErrChain},
		{"chain behind Destination", udp, Source{Type: TypeDestination, ThenDestination: true}, 0, ErrChain},
		{"INT 1.0 by port", udp, Source{Format: Format1}, 0, ErrFormat},
		{"INT 1.0 MX", udp, Source{Format: Format1, Marking: ByDSCP, Type: TypeMX}, 0, ErrFormat},
		{"INT 1.0 over GRE", gre, Source{Format: Format1, Marking: ByGRE}, 0, ErrFormat},
		{"INT 1.0 with a domain", udp, Source{Format: Format1, Marking: ByDSCP, DomainID: 1}, 0, ErrFormat},
		{"2016 by DSCP", udp, Source{Format: Format2016, Marking: ByDSCP}, 0, ErrFormat},
		{"2016 has no G", vx, Source{Format: Format2016, Marking: ByVXLANGPE, FromVXLAN: true}, 0, ErrFormat},
		{"source-only not in words", udp, Source{SourceOnly: []byte{1}}, 0, ErrFormat},
		{"outer addresses of two families", udp, Source{Marking: ByGRE, GREInserted: true, OuterSrc: v4, OuterDst: v6}, 0, ErrFormat},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, err := c.source.Insert(c.orig, exampleHops(c.hops)); out != nil || !errors.Is(err, c.want) {
				t.Errorf("got %x, %v, want %v", out, err, c.want)
			}
		})
	}
}
