package intgen

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
)

// unhex reads hexadecimal digits with spaces and line ends between them.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The packet of all examples: 10.0.0.1:1000 to 10.0.0.2:2000, DSCP 10, payload 00
// 01 02 03.
func exampleFlow(proto uint8) *Flow {
	return &Flow{
		SrcMAC: [6]byte{2, 0, 0, 0, 0, 1}, DstMAC: [6]byte{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"),
		Proto: proto, SrcPort: 1000, DstPort: 2000, DSCP: 10,
	}
}

const (
	exampleLink  = "020000000002 020000000001 0800 "
	exampleIP    = "45280020 00004000 401126a3 0a000001 0a000002 "
	exampleUDP   = "03e807d0 000cde17 00010203 "
	exampleFrame = exampleLink + exampleIP + exampleUDP
	tunnelLink   = "020000000004 020000000003 0800 "
)

// exampleTunnel leads from 192.0.2.1 to 192.0.2.2 and has VNI 100.
func exampleTunnel(e Encap) *Tunnel {
	return &Tunnel{
		Encap: e, SrcMAC: [6]byte{2, 0, 0, 0, 0, 3}, DstMAC: [6]byte{2, 0, 0, 0, 0, 4},
		Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"),
		SrcPort: 0xc000, VNI: 100, Ethernet: true, Checksum: true,
	}
}

// exampleHops are n hops of the examples, which ask for node id and queue (bitmap
// 0x9000): node 0x64 + i, queue i, occupancy 0x101 * i.
func exampleHops(n int) []Hop {
	hops := make([]Hop, n)
	for i := range hops {
		k := uint32(n - i)
		hops[i] = Hop{NodeID: 0x64 + k, QueueOccupancy: 0x101 * k}
	}
	return hops
}

func wrap(t *testing.T, tunnel *Tunnel) []byte {
	t.Helper()
	b, err := tunnel.Wrap(exampleFlow(UDP).Frame(4, 0))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// example is a packet with INT whose bytes are written out.
type example struct {
	name   string
	orig   []byte
	source Source
	hops   int
	want   string
}

func (e *example) run(t *testing.T) {
	t.Helper()
	before := bytes.Clone(e.orig)
	got, err := e.source.Insert(e.orig, exampleHops(e.hops))
	if err != nil {
		t.Fatal(err)
	}
	if want := unhex(t, e.want); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	if !bytes.Equal(e.orig, before) {
		t.Error("the original changed")
	}
}

func TestFrame(t *testing.T) {
	if got, want := exampleFlow(UDP).Frame(4, 0), unhex(t, exampleFrame); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// The checksums of these packets come from a program that has nothing of this
// package.
func TestInsertBytesOverL4(t *testing.T) {
	udp, tcp := exampleFlow(UDP).Frame(4, 0), exampleFlow(TCP).Frame(4, 0)
	const two = "00000066 00000202 00000065 00000101 "
	for _, e := range []example{
		{"INT 2.1, section Example with INT-MD over TCP", tcp, Source{Marking: ByDSCP, DSCP: 0x17, Mask: 0x3f, Bitmap: 0x9000, MaxHops: 8}, 2,
			exampleLink + "455c004c 00004000 4006264e 0a000001 0a000002" +
				"03e807d0 00000000 00000000 5010ffff c7ee0000" +
				"10070028 20000206 90000000 00000000" + two + "00010203"},
		{"INT 1.0, section 5.1", tcp, Source{Marking: ByDSCP, Format: Format1, DSCP: 0x17, Mask: 0x3f, Bitmap: 0x9000, MaxHops: 8}, 2,
			exampleLink + "455c0048 00004000 40062652 0a000001 0a000002" +
				"03e807d0 00000000 00000000 5010ffff dff90000" +
				"01000728 10000206 90000000" + two + "00010203"},
		{"INT 2.1, section Example with INT-MX including domain specific source-inserted metadata", tcp,
			Source{Marking: ByNewUDP, UDPPort: 5000, Type: TypeMX, Bitmap: 0x9000, DomainID: 0xabcd, DSInstruction: 0xc000,
				SourceOnly: []byte{0, 0, 0, 15, 0x12, 0x34, 0x56, 0x78}}, 0,
			exampleLink + "4528004c 00004000 40112677 0a000001 0a000002" +
				"dfbb1388 00380000 38050006 20000000 9000abcd c0000000 0000000f 12345678" +
				"03e807d0 00000000 00000000 5010ffff 8e120000 00010203"},
		{"two shims with NPT 1", udp, Source{UDPPort: 5000, ThenDestination: true, DestinationWords: 2, Bitmap: 0x9000, MaxHops: 8}, 1,
			exampleLink + "45280044 00004000 4011267f 0a000001 0a000002" +
				"03e81388 00300e9a 14051388 20000207 90000000 00000000 00000065 00000101" +
				"240207d0 de570000 de570001 00010203"},
		{"two shims, the last one with NPT 2", tcp, Source{UDPPort: 5000, ThenDestination: true, DestinationWords: 2, Bitmap: 0x9000, MaxHops: 8}, 0,
			exampleLink + "45280050 00004000 40112673 0a000001 0a000002" +
				"dfbb1388 003c0000 14031388 20000208 90000000 00000000 28020006 de570000 de570001" +
				"03e807d0 00000000 00000000 5010ffff 8e120000 00010203"},
		{"probe marker", udp, Source{Marking: ByProbeMarker, ProbeMarker: 0x0102030405060708, Bitmap: 0x9000, MaxHops: 8}, 0,
			exampleLink + "45280038 00004000 4011268b 0a000001 0a000002" +
				"03e807d0 00240bc8 01020304 05060708 10030000 20000208 90000000 00000000 00010203"},
	} {
		t.Run(e.name, e.run)
	}
}

func TestInsertBytesOverGRE(t *testing.T) {
	inserted := Source{
		Marking: ByGRE, GREInserted: true, Bitmap: 0x9000, MaxHops: 8,
		OuterSrc: netip.MustParseAddr("192.0.2.1"), OuterDst: netip.MustParseAddr("192.0.2.2"),
	}
	const md = "20000206 90000000 00000000 00000066 00000202 00000065 00000101 "
	withFields, bridged := inserted, inserted
	withFields.GREChecksum, withFields.GREKey = true, true
	bridged.GREEthernet, bridged.OuterVLAN, bridged.Type = true, 7, TypeMX
	gre := exampleTunnel(OverGRE)
	gre.Ethernet = false
	orig := exampleFlow(UDP).Frame(4, 0)
	for _, e := range []example{
		{"INT 2.1, section Example with INT-MD over IPv4/GRE (Original packet IPv4)", orig, inserted, 2,
			exampleLink + "45000058 00004000 402fb673 c0000201 c0000202" +
				"000088b6 18070800" + md + exampleIP + exampleUDP},
		{"with checksum and key", orig, withFields, 2,
			exampleLink + "45000060 00004000 402fb66b c0000201 c0000202" +
				"a00088b6 aa130000 00006b79 18070800" + md + exampleIP + exampleUDP},
		{"INT 2.1, section Example with INT-MX over IPv4/GRE (Original packet CE or IP)", orig, bridged, 2,
			"020000000002 020000000001 81000007 0800 45000056 00004000 402fb675 c0000201 c0000202" +
				"000088b6 38036558 20000000 90000000 00000000" + exampleFrame},
		{"G = 0, with checksum", wrap(t, gre), Source{Marking: ByGRE, Bitmap: 0x9000, MaxHops: 8}, 0,
			tunnelLink + "4500004c 00004000 402fb67f c0000201 c0000202" +
				"800088b6 415d0000 10030800 20000208 90000000 00000000" + exampleIP + exampleUDP},
	} {
		t.Run(e.name, e.run)
	}
}

func TestInsertBytesOverVXLANGPE(t *testing.T) {
	gpe, plain := wrap(t, exampleTunnel(VXLANGPE)), wrap(t, exampleTunnel(VXLAN))
	const three = "00000067 00000303 00000066 00000202 00000065 00000101 "
	for _, e := range []example{
		{"INT 2.1, section Example with INT-MD over VXLAN GPE", gpe, Source{Marking: ByVXLANGPE, Bitmap: 0x9000, MaxHops: 8}, 3,
			tunnelLink + "4500007a 00004000 4011b66f c0000201 c0000202 c00012b6 006676b8" +
				"0c000082 00006400 10090003 20000205 90000000 00000000" + three + exampleFrame},
		{"MX, G = 1", plain, Source{Marking: ByVXLANGPE, FromVXLAN: true, Type: TypeMX, Bitmap: 0x9000}, 3,
			tunnelLink + "45000062 00004000 4011b687 c0000201 c0000202 c00012b6 004ee02a" +
				"0c000082 00006400 30038003 20000000 90000000 00000000" + exampleFrame},
		{"INT 1.0, section 5.2", gpe, Source{Marking: ByVXLANGPE, Format: Format1, Bitmap: 0x9000, MaxHops: 8}, 3,
			tunnelLink + "45000076 00004000 4011b673 c0000201 c0000202 c00012b6 00628d43" +
				"0c000008 00006400 01000903 10000205 90000000" + three + exampleFrame},
		{"June 2016, section 5.4, Example with VXLAN GPE encapsulation", gpe,
			Source{Marking: ByVXLANGPE, Format: Format2016, Bitmap: 0x9000, MaxHops: 16, ThenDestination: true, DestinationWords: 2}, 3,
			tunnelLink + "45000082 00004000 4011b667 c0000201 c0000202 c00012b6 006e4d78" +
				"0c000005 00006400 01000905 00021003 90000000 00000067 00000303 00000066 00000202 00000065 80000101" +
				"02000303 de570000 de570001" + exampleFrame},
	} {
		t.Run(e.name, e.run)
	}
}

func TestInsertBytesOverGeneve(t *testing.T) {
	plain, other := exampleTunnel(Geneve), exampleTunnel(Geneve)
	other.Options = [][]byte{unhex(t, "01020a01 11223344")}
	const three = "00000067 00000303 00000066 00000202 00000065 00000101 "
	for _, e := range []example{
		{"INT 2.1, section Example with INT-MD over Geneve", wrap(t, plain), Source{Marking: ByGeneve, Bitmap: 0x9000, MaxHops: 8}, 3,
			tunnelLink + "4500007a 00004000 4011b66f c0000201 c0000202 c00017c1 00661cd7" +
				"0a006558 00006400 01030109 20000205 90000000 00000000" + three + exampleFrame},
		{"MX behind another option", wrap(t, other), Source{Marking: ByGeneve, GeneveLast: true, Type: TypeMX, Bitmap: 0x9000}, 0,
			tunnelLink + "4500006a 00004000 4011b67f c0000201 c0000202 c00017c1 0056d8d0" +
				"06006558 00006400 01020a01 11223344 01030303 20000000 90000000 00000000" + exampleFrame},
		{"June 2016, section 5.4, Example with Geneve encapsulation", wrap(t, plain),
			Source{Marking: ByGeneve, Format: Format2016, GeneveClass: 0x00ab, Bitmap: 0x9000, MaxHops: 16}, 1,
			tunnelLink + "45000066 00004000 4011b683 c0000201 c0000202 c00017c1 0052ba2f" +
				"05006558 00006400 00ab0104 00021001 90000000 00000065 80000101" + exampleFrame},
	} {
		t.Run(e.name, e.run)
	}
}
