package wireshark_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
	"intsink/engine/wire/report"
)

func flow6() (src, dst netip.Addr) {
	return netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
}

// inPacket is a packet with INT, cut to n bytes.
func inPacket(t *testing.T, dst uint16, n int) []byte {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: 0x8000, MaxHops: 9}
	b := insert(t, s, udp(dst, make([]byte, 200)), twoHops...)
	return b[:n]
}

const allMetadata = report.MdInterfaces | report.MdHopLatency | report.MdQueue | report.MdIngressTimestamp |
	report.MdEgressTimestamp | report.MdLevel2Interfaces | report.MdTxUtilization | report.MdBuffer | report.MdDropReason

var reportMetadata = report.Metadata{
	IngressPort: 1, EgressPort: 2, HopLatencyNs: 3, QueueID: 4, QueueOccupancy: 5,
	IngressTimestamp: 1700000000000000006, EgressTimestamp: 1700000000000000007, Level2Ingress: 8, Level2Egress: 9,
	TxUtilization: 10, BufferID: 11, BufferOccupancy: 12, DropReason: 13,
}

// seal builds a report packet.
func seal(t *testing.T, reports ...*report.Individual) []byte {
	t.Helper()
	var p report.Packet
	p.Open(make([]byte, 4000))
	for _, r := range reports {
		if !p.Append(r) {
			t.Fatal("does not fit")
		}
	}
	return p.Seal(report.GroupHeader{HwID: 5, Sequence: 70000, NodeID: 99})
}

// coalesced has three individual reports of different kinds.
func coalesced(t *testing.T) []byte {
	b := make([]byte, 48)
	b = append(b[:reportMetadata.Put(b, allMetadata)], 0xd5, 0xd5, 0xd5, 0xd5)
	tlvs := make([]byte, 300)
	n := report.PutTLV(tlvs, report.TLVDSExtension, 0x1234, []byte{1, 2, 3, 4})
	n += report.PutTLV(tlvs[n:], report.TLVIPv4, 0, inPacket(t, 9003, 100)[14:])
	return seal(t,
		&report.Individual{RepType: report.INT, InType: report.Ethernet, TrackedFlow: true, RepMdBits: allMetadata,
			DomainSpecificID: 0x11, DSMdBits: 0x8000, DSMdStatus: 1, Metadata: b, Inner: inPacket(t, 9001, 128)},
		&report.Individual{RepType: report.InnerOnly, InType: report.IPv4, Dropped: true, CongestedQueue: true, Inner: inPacket(t, 9002, 128)[14:]},
		&report.Individual{RepType: report.InnerOnly, InType: report.TLV, Intermediate: true, Inner: tlvs[:n]})
}

func TestCoalescedReport(t *testing.T) {
	file := capture(t, udp(8555, coalesced(t)))
	expect(t, file, []want{
		{"int_report.version", "2"}, {"int_report.hw_id", "5"}, {"int_report.sequence_number", "70000"}, {"int_report.node_id", "99"},
		{"int_report.count", "3"}, {"int_report.rep_type", "1,0,0"}, {"int_report.in_type", "3,4,1"},
		{"int_report.md_length", "13,0,0"},
		{"int_report.d", "0,1,0"}, {"int_report.q", "0,1,0"},
		{"int_report.f", "1,0,0"}, {"int_report.i", "0,0,1"},
		{"int_report.rep_md_bits", "0x7f81"}, {"int_report.domain", "0x0011"}, {"int_report.ds_md_bits", "0x8000"},
		{"int_report.ds_md_status", "0x0001"}, {"int_report.ds_metadata", "d5d5d5d5"},
		{"int_report.ingress_interface_id", "1"}, {"int_report.egress_interface_id", "2"}, {"int_report.hop_latency", "3"},
		{"int_report.queue_id", "4"}, {"int_report.queue_occupancy", "5"},
		{"int_report.ingress_timestamp", "1700000000000000006"}, {"int_report.egress_timestamp", "1700000000000000007"},
		{"int_report.level2_ingress_interface_id", "8"}, {"int_report.level2_egress_interface_id", "9"},
		{"int_report.tx_utilization", "10"}, {"int_report.buffer_id", "11"}, {"int_report.buffer_occupancy", "12"},
		{"int_report.drop_queue_id", "4"}, {"int_report.drop_reason", "13"},
		{"int_report.tlv.type", "0,2"}, {"int_report.tlv.template", "0x1234,0x0000"}, {"int_report.tlv.data", "01020304"},
		{"int_report.malformed", ""}, {"int.malformed", ""},
		// The packets inside, cut as they are, with their INT.
		{"udp.dstport", "8555,5000,5000,5000"}, {"int.udp_port", "9001,9002,9003"}, {"int.hop.node_id", "7,8,7,8,7,8"},
	})
	expect(t, file, []want{{"int_report.version", ""}}, "-o", "int_report.udp_port:1")
	// The packets inside leave the columns alone.
	expect(t, file, []want{{"_ws.col.Protocol", "INT-REPORT"}, {"_ws.col.Source", "192.0.2.1"}})
}

func TestReport10(t *testing.T) {
	words := []uint32{1<<28 | 7<<24 | 1<<21 | 0b101010<<15 | 1<<8 | 1<<6 | 9, 42, 4000000000, 77,
		0x0001_0002, 0x03000004, 0x05060000}
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	b = append(b, inPacket(t, 9001, 128)[14:]...)
	expect(t, capture(t, udp(8555, b)), []want{
		{"int_report.version", "1"}, {"int_report.v1.header_length", "7"}, {"int_report.v1.nprot", "1"},
		{"int_report.v1.rep_md_bits", "0x2a"}, {"int_report.d", "1"}, {"int_report.q", "0"}, {"int_report.f", "1"},
		{"int_report.hw_id", "9"}, {"int_report.node_id", "42"}, {"int_report.sequence_number", "4000000000"},
		{"int_report.ingress_timestamp", "77"}, {"int_report.ingress_interface_id", "1"}, {"int_report.egress_interface_id", "2"},
		{"int_report.queue_id", "3"}, {"int_report.queue_occupancy", "4"}, {"int_report.drop_queue_id", "5"},
		{"int_report.drop_reason", "6"}, {"int_report.malformed", ""}, {"int.udp_port", "9001"}, {"int.hop.node_id", "7,8"},
	})
}

func TestReport05(t *testing.T) {
	var b []byte
	for _, w := range []uint32{2<<24 | 1<<22 | 6, 43, 78, 44, 0x0001_0002, 0x03000004, 5} {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	b = append(b, inPacket(t, 9001, 128)...)
	expect(t, capture(t, udp(8555, b)), []want{
		{"int_report.version", "0"}, {"int_report.v05.nproto", "2"}, {"int_report.q", "1"}, {"int_report.hw_id", "6"},
		{"int_report.sequence_number", "43"}, {"int_report.ingress_timestamp", "78"}, {"int_report.node_id", "44"},
		{"int_report.queue_occupancy", "4"}, {"int_report.egress_timestamp", "5"}, {"int_report.malformed", ""},
		{"int.hop.node_id", "7,8"},
	})
}

// What the code of Transparent Security sends: RepType 0 with main contents, in a frame
// whose INT shim counts itself, and drop reports.
func TestTransparentSecurity(t *testing.T) {
	const (
		header = "20000040000000ea 040a0800 0000 5453 0000 0000 00000000"
		tsINT  = "2000 0109 8000 5453 8000 4000 000000ea 0000007b 000000000101 0000" // two hops, the device
		ether  = "020000000002 020000000001"
		ipv4   = "4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000"
		addr6  = "20010db8000000000000000000000001 20010db8000000000000000000000002"
		tcp    = "1a18 16a0 00000000 00000000 5002 2000 0000 0000"
	)
	two := []want{{"int.hop.node_id", "234,123"}, {"int.source_metadata", "0000000001010000"}, {"int.malformed", ""}, {"int_report.malformed", ""}, {"int_report.domain", "0x5453"}}
	for _, c := range []struct {
		name, wire string
		wants      []want
	}{
		{"UDP over IPv4", header + ether + "0800" + ipv4 + "18080011" + tsINT + "1a18 16a0 0008 0000", append(two, want{"udp.dstport", "556,555,5792"})},
		{"Length as in INT 2.1", header + ether + "0800" + ipv4 + "18070011" + tsINT + "1a18 16a0 0008 0000", append(two, want{"udp.dstport", "556,555,5792"})},
		{"Length as in INT 2.1, cut", header + ether + "0800" + "4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0034 0000" + "18070011" + tsINT + "1a18 16a0 000c 0000", append(two, want{"udp.dstport", "556,555,5792"})},
		{"TCP over IPv4", header + ether + "0800 4500 0050 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 003c 0000 18080006" + tsINT + tcp, append(two, want{"tcp.dstport", "5792"})},
		{"TCP over IPv6, whose header says TCP", header + ether + "86dd 60000000 003c 06 40" + addr6 + "0000 022b 003c 0000 18080006" + tsINT + tcp, append(two, want{"tcp.dstport", "5792"})},
		{"drop", "200000000000007b 02090700 0001 5453 0000 0000 000f0000 60d36e49 00000005 6b00dbfc6026a3526b00dbfc6026a352 1bbe0f5d001700007470732064726f70207265706f7274", []want{
			{"int_report.drop_reason", "15"}, {"int_report.transparent_security.drop_count", "5"}, {"int_report.transparent_security.drop_key", "6b00dbfc6026a3526b00dbfc6026a352"},
			{"int_report.count", "1"}, {"int_report.malformed", ""}, {"int_report.ds_extension", "1bbe0f5d001700007470732064726f70207265706f7274"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, capture(t, udp(556, fromHex(t, c.wire))), c.wants, "-o", "int_report.udp_port:556", "-o", "int.udp_port:555")
		})
	}
}

// TestShimInclusive: the preference is for packets, where nothing in INT tells. The header that
// NPT 2 restores shows where it is wrong: then there are no hops, and nothing is handed on.
func TestShimInclusive(t *testing.T) {
	const (
		stack = "2000 0107 8000 0000 0000 0000 000000ea 00000064" // header, two hops of a node id
		long  = "000d0000 00100000 deadbeef cafebabe"
		tcp   = "9c400050 00000001 00000002 50180200 12340000"
	)
	see := "; see shim_length and the preference int.shim_inclusive"
	for _, c := range []struct {
		name, packet string
		cut          int // bytes behind the UDP header that the report has; 0: all
		inclusive    bool
		hops, text   string
	}{
		{"the device of Transparent Security", "18080011 20000109 80005453 80004000 000000ea 0000007b 00000000 01010000 1a1816a0 00080000", 0, true, "234,123", ""},
		{"the same, and nobody says so", "18080011 20000109 80005453 80004000 000000ea 0000007b 00000000 01010000 1a1816a0 00080000", 0, false, "", "the packet has 4 bytes behind INT, too few for the header that NPT 2 restores" + see},
		{"UDP", "18050011" + stack + long, 0, false, "234,100", ""},
		{"UDP, and nobody says so", "18060011" + stack + long, 0, false, "", "the UDP length behind INT is 57005, and the packet has 12 bytes there" + see},
		{"UDP, wrongly", "18050011" + stack + long, 0, true, "", "the UDP length behind INT is 13, and the packet has 20 bytes there" + see},
		{"TCP", "18050006" + stack + tcp, 0, false, "234,100", ""},
		{"TCP, and nobody says so", "18060006" + stack + tcp + "00000000", 0, false, "", "the TCP header behind INT has 4 bytes by its Data Offset, and the packet has 20 there" + see},
		{"TCP, wrongly", "18050006" + stack + tcp, 0, true, "", "the TCP header behind INT has 0 bytes by its Data Offset, and the packet has 24 there" + see},
		{"another protocol", "18060001" + stack + long, 0, false, "234,100,851968", ""},
		{"cut behind the UDP length", "18050011" + stack + long, 24 + 6, false, "234,100", ""},
		{"cut behind the UDP length, and nobody says so", "18060011" + stack + long, 28 + 6, false, "", "the UDP length behind INT is 57005, and the packet has 12 bytes there" + see},
		{"cut in the UDP length, which padding follows", "18050011" + stack + "000d0000 0108" + strings.Repeat("00", 258), 24 + 5, false, "234,100", ""},
		{"INT behind INT", "14051388" + stack + "18050011" + stack + long, 0, false, "234,100,234,100", ""},
		{"INT behind INT, and nobody says so", "14051388" + stack + "18060011" + stack + long, 0, false, "234,100", "the UDP length behind INT is 57005, and the packet has 12 bytes there" + see},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := udp(5000, fromHex(t, c.packet))
			inner := frame[14:]
			if c.cut > 0 {
				inner = append(slices.Clip(inner[:28+c.cut]), make([]byte, -c.cut&3)...)
			}
			frames := [][]byte{udp(8555, slices.Concat(fromHex(t, "21400007 00000003"), []byte{4, byte(len(inner) / 4), 0, 0x20}, inner))}
			if c.cut == 0 {
				frames = append(frames, frame)
			}
			args := []string{"-o", "int.shim_inclusive:" + strings.ToUpper(fmt.Sprint(c.inclusive))}
			file := capture(t, frames...)
			for i, got := range fields(t, file, []string{"int.hop.node_id", "int.malformed", "int_report.malformed"}, args...) {
				if got[0] != c.hops || (got[1] != "") != (c.text != "") || got[2] != "" {
					t.Errorf("frame %d: hops %q, malformed %q and %q", i+1, got[0], got[1], got[2])
				}
			}
			if c.text != "" {
				out := tshark(t, file, append(args, "-V", "-O", "int,int_report")...)
				if n := strings.Count(out, "[Expert Info (Error/Malformed): "+c.text+"]"); n != len(frames) {
					t.Errorf("%d times %q, want %d, in\n%s", n, c.text, len(frames), out)
				}
			}
		})
	}
}

// TestUDPLengthWithoutINT: some sources do not add all of INT, or of what it stands in front of, to the UDP length. Then
// nothing is known of where the packet ends, and the hops are shown.
func TestUDPLengthWithoutINT(t *testing.T) {
	const (
		stack = "2000 0107 8000 0000 0000 0000 000000ea 00000064"
		tcp   = "9c400050 00000001 00000002 80180200 12340000 0101080a 00000001 00000002"
	)
	for _, c := range []struct {
		packet string
		length uint16
	}{
		{"18050006" + stack + tcp, 8 + 24 + 20},
		{"18050011" + stack + "000d0000 000c0000 deadbeef", 8 + 24},
	} {
		frame := udp(5000, fromHex(t, c.packet))
		binary.BigEndian.PutUint16(frame[38:], c.length)
		if got := fields(t, capture(t, frame), []string{"int.hop.node_id", "int.malformed"}); len(got) != 1 || got[0][0] != "234,100" || got[0][1] != "" {
			t.Errorf("%s, UDP length %d: %q", c.packet, c.length, got)
		}
	}
}

func fromHex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
