package report

import (
	"bytes"
	"testing"

	"intsink/engine/wire/report/reporttest"
)

// Transparent Security, document "INT header": one hop, and the device's MAC
// address from the source.
const intTransparentHex = `4500 0056 0001 4000 3d 11 0000 c0a80101 c0a80202
	ddd5 1388 0042 0000
	14 06 0050
	20 00 01 09  8000 5453 8000 0000
	0000007b a61af6b1647d0000
	0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e`

// etherHex is an Ethernet header in front of IPv4.
const etherHex = `020000000002 020000000001 0800`

var group = GroupHeader{HwID: 5, Sequence: 7, NodeID: 3}

// golden are the examples of Telemetry Report 2.0, section "Examples of Telemetry
// Reports", with values for what the examples leave open, and one of a profile. Report Lengths 14, 23
// and 33 are the examples' own. The second example gives an MD Length of 2, which
// by the field's definition counts the domain specific word too.
var golden = []struct {
	name, file string
	r          func(t testing.TB) Individual
}{
	{"baseline metadata and truncated IPv4", "baseline",
		func(t testing.TB) Individual {
			m := Metadata{IngressPort: 1, EgressPort: 2, QueueID: 3, QueueOccupancy: 0x44}
			b := make([]byte, 48)
			n := m.Put(b, MdInterfaces|MdQueue)
			return Individual{RepType: INT, InType: IPv4, TrackedFlow: true,
				RepMdBits: MdInterfaces | MdQueue, Metadata: b[:n], Inner: reporttest.Hex(t, reporttest.IPv4TCPHex)}
		}},
	{"domain specific metadata, extension data and truncated IPv4", "domain_specific",
		func(t testing.TB) Individual {
			inner := make([]byte, TLVLen(4)+TLVLen(40))
			n := PutTLV(inner, TLVDSExtension, 0x42, reporttest.Hex(t, "deadbeef"))
			n += PutTLV(inner[n:], TLVIPv4, 0, reporttest.Hex(t, reporttest.IPv4TCPHex))
			if n != len(inner) {
				t.Fatalf("TLVs are %d bytes, want %d", n, len(inner))
			}
			return Individual{RepType: INT, InType: TLV, TrackedFlow: true, RepMdBits: MdInterfaces | MdQueue,
				DomainSpecificID: 0x5453, DSMdBits: 0x8000, DSMdStatus: 1,
				Metadata: reporttest.Hex(t, "00010002 03000044 cafebabe"), Inner: inner}
		}},
	{"embedded INT-MD in a TCP packet", "int_tcp",
		func(t testing.TB) Individual {
			return Individual{RepType: INT, InType: IPv4, TrackedFlow: true, RepMdBits: MdQueue,
				Metadata: reporttest.Hex(t, "03000044"), Inner: reporttest.Hex(t, reporttest.INTTCPHex)}
		}},
	{"Transparent Security: its domain and an Ethernet frame, nothing else", "transparent_security",
		func(t testing.TB) Individual {
			return Individual{RepType: INT, InType: Ethernet, TrackedFlow: true, DomainSpecificID: TransparentSecurityID,
				Inner: reporttest.Hex(t, etherHex+intTransparentHex)}
		}},
	{"embedded INT-MD over UDP in a VXLAN packet", "int_vxlan",
		func(t testing.TB) Individual {
			return Individual{RepType: InnerOnly, InType: IPv4, TrackedFlow: true, Inner: reporttest.Hex(t, reporttest.INTVXLANHex)}
		}},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			want := reporttest.Wire(t, g.file)
			r := g.r(t)
			var p Packet
			p.Open(make([]byte, 1400))
			if !p.Append(&r) {
				t.Fatal("does not fit")
			}
			if got := p.Seal(group); !bytes.Equal(got, want) {
				t.Errorf("encoded\n%x, want\n%x", got, want)
			}
		})
	}
}
