package report

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// unhex reads hexadecimal digits; white space is for the reader.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// toJSON gives the JSON of v.
func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	groupHex = `2 1 400007 00000003` // hw_id 5, sequence 7, node 3
	tcpHex   = `9c40 0050 00000001 00000002 5018 0200 1234 0000`

	// A plain TCP packet from 10.0.0.1:40000 to 10.0.0.2:80.
	ipv4TCPHex = `4500 0028 0001 4000 40 06 0000 0a000001 0a000002` + tcpHex

	// INT 2.1, section "Example with new UDP header and INT-MD inserted before
	// TCP", as the sink receives it.
	intTCPHex = `45 5c 0050 0001 4000 40 11 0000 0a000001 0a000002
		e000 1388 003c 0000
		18 07 00 06
		20 00 02 06 9000 0000 0000 0000
		00000002 01000022
		00000001 02000011` + tcpHex

	// INT 2.1, section "Example with INT-MD in-between UDP header and UDP
	// payload": VXLAN between two hosts, three switches. The example's figure gives
	// the shim a Length of 7; three hops of two words and the header are 9.
	intVXLANHex = `4500 0082 0001 4000 3d 11 0000 c0a80101 c0a80202
		ddd5 1388 006e 0000
		14 09 12b5
		20 00 02 05 c000 0000 0000 0000
		00000003 00050006
		00000002 00030004
		00000001 00010002
		08000000 00007b00
		020000000002 020000000001 0800
		4500 0028 0001 4000 40 06 0000 0a0a0101 0a0a0202` + tcpHex
)

// Transparent Security, document "INT header": one hop, and the device's MAC
// address from the source.
const intTransparentHex = `4500 0056 0001 4000 3d 11 0000 c0a80101 c0a80202
	ddd5 1388 0042 0000
	14 06 0050
	20 00 01 09  8000 5453 8000 0000
	0000007b a61af6b1647d0000
	0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e`

var group = GroupHeader{HwID: 5, Sequence: 7, NodeID: 3}

// golden are the examples of Telemetry Report 2.0, section "Examples of Telemetry
// Reports", with values for what the examples leave open, and one of a profile. Report Lengths 14, 23
// and 33 are the examples' own. The second example gives an MD Length of 2, which
// by the field's definition counts the domain specific word too.
var golden = []struct {
	name string
	wire string
	r    func(t testing.TB) Individual
	want []string // in the JSON of the decoded report
}{
	{
		"baseline metadata and truncated IPv4",
		groupHex + `14 0e 02 20 5000 0000 0000 0000 00010002 03000044` + ipv4TCPHex,
		func(t testing.TB) Individual {
			m := Metadata{IngressPort: 1, EgressPort: 2, QueueID: 3, QueueOccupancy: 0x44}
			b := make([]byte, 48)
			n := m.Put(b, MdInterfaces|MdQueue)
			return Individual{RepType: INT, InType: IPv4, TrackedFlow: true,
				RepMdBits: MdInterfaces | MdQueue, Metadata: b[:n], Inner: unhex(t, ipv4TCPHex)}
		},
		[]string{
			`"rep_type":1,"in_type":4,"report_length":14,"md_length":2,"dropped":false,"congested_queue":false,"tracked_flow":true,"intermediate":false`,
			`"rep_md_bits":20480,"domain_specific_id":0,"ds_md_bits":0,"ds_md_status":0`,
			`"metadata":{"ingress_interface_id":1,"egress_interface_id":2,"queue_id":3,"queue_occupancy":68}`,
			`"inner":{"type":"ipv4","length":40,"flow":{"source":"10.0.0.1","destination":"10.0.0.2","length":40,"dscp":0,"protocol":6,"source_port":40000,"destination_port":80,"tcp_flags":24}}`,
		},
	},
	{
		"domain specific metadata, extension data and truncated IPv4",
		groupHex + `11 12 03 20 5000 5453 8000 0001 00010002 03000044 cafebabe
			00 01 0042 deadbeef  20 0a 0000` + ipv4TCPHex,
		func(t testing.TB) Individual {
			inner := make([]byte, TLVLen(4)+TLVLen(40))
			n := PutTLV(inner, TLVDSExtension, 0x42, unhex(t, "deadbeef"))
			n += PutTLV(inner[n:], TLVIPv4, 0, unhex(t, ipv4TCPHex))
			if n != len(inner) {
				t.Fatalf("TLVs are %d bytes, want %d", n, len(inner))
			}
			return Individual{RepType: INT, InType: TLV, TrackedFlow: true, RepMdBits: MdInterfaces | MdQueue,
				DomainSpecificID: 0x5453, DSMdBits: 0x8000, DSMdStatus: 1,
				Metadata: unhex(t, "00010002 03000044 cafebabe"), Inner: inner}
		},
		[]string{
			`"ds_metadata":"cafebabe"`,
			`"inner":{"type":"tlv","length":52,"flow":{"source":"10.0.0.1",`,
			`"tlvs":[{"type":"ds_extension","length":4,"template":66,"data":"deadbeef"},{"type":"ipv4","length":40}]`,
		},
	},
	{
		"embedded INT-MD in a TCP packet",
		groupHex + `14 17 01 20 1000 0000 0000 0000 03000044` + intTCPHex,
		func(t testing.TB) Individual {
			return Individual{RepType: INT, InType: IPv4, TrackedFlow: true, RepMdBits: MdQueue,
				Metadata: unhex(t, "03000044"), Inner: unhex(t, intTCPHex)}
		},
		[]string{
			`"report_length":23`,
			`"protocol":6,"source_port":40000,"destination_port":80`,
			`"int":{"type":"md","shim_length":7,"npt":2,"ver":2,"discard":false,"max_hop_count_exceeded":false,"mtu_exceeded":false,` +
				`"hop_ml":2,"remaining_hop_count":6,"instruction_bitmap":36864,"domain_specific_id":0,"ds_instruction":0,"ds_flags":0,` +
				`"hops":[{"node_id":2,"queue_id":1,"queue_occupancy":34},{"node_id":1,"queue_id":2,"queue_occupancy":17}]}`,
		},
	},
	{
		"Transparent Security: its domain and an Ethernet frame, nothing else",
		groupHex + `13 1b 00 20 0000 5453 0000 0000 020000000002 020000000001 0800` + intTransparentHex,
		func(t testing.TB) Individual {
			return Individual{RepType: INT, InType: Ethernet, TrackedFlow: true, DomainSpecificID: TransparentSecurityID,
				Inner: unhex(t, etherHex+intTransparentHex)}
		},
		[]string{
			`"rep_type":1,"in_type":3,"report_length":27,"md_length":0`,
			`"rep_md_bits":0,"domain_specific_id":21587,"ds_md_bits":0,"ds_md_status":0,"metadata":{}`,
			`"source_mac":"02:00:00:00:00:01"`,
			`"hops":[{"node_id":123}],"source_metadata":"a61af6b1647d0000"`,
		},
	},
	{
		"embedded INT-MD over UDP in a VXLAN packet",
		groupHex + `04 21 00 20` + intVXLANHex + `0000`,
		func(t testing.TB) Individual {
			return Individual{RepType: InnerOnly, InType: IPv4, TrackedFlow: true, Inner: unhex(t, intVXLANHex)}
		},
		[]string{
			`"rep_type":0,"in_type":4,"report_length":33,"md_length":0`,
			`"source":"192.168.1.1","destination":"192.168.2.2"`,
			`"protocol":17,"source_port":56789,"destination_port":4789`,
			`"hops":[{"node_id":3,"ingress_interface_id":5,"egress_interface_id":6},` +
				`{"node_id":2,"ingress_interface_id":3,"egress_interface_id":4},` +
				`{"node_id":1,"ingress_interface_id":1,"egress_interface_id":2}]`,
		},
	},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			want := unhex(t, g.wire)
			r := g.r(t)
			var p Packet
			p.Open(make([]byte, 1400))
			if !p.Append(&r) {
				t.Fatal("does not fit")
			}
			if got := p.Seal(group); !bytes.Equal(got, want) {
				t.Errorf("encoded\n%x, want\n%x", got, want)
			}
			m, err := Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Reports) != 1 || toJSON(t, m.Header) != `{"version":2,"hw_id":5,"sequence_number":7,"node_id":3}` {
				t.Fatalf("decoded %d reports of %s", len(m.Reports), toJSON(t, m.Header))
			}
			got := toJSON(t, m.Reports[0])
			for _, want := range g.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
			if m, err := (&Decoder{Strict: true}).Decode(want); err != nil || len(m.Reports) != 1 {
				t.Errorf("strict: %v", err)
			}
		})
	}
}
