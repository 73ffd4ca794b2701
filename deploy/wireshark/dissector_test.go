package wireshark_test

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"intsink/engine/wire/intgen"
)

// The original port's dissector gets the payload: NTP's, here.
func TestPortInShim(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: everything, MaxHops: 9, Discard: true}
	frame := insert(t, s, udp(123, append([]byte{0x23}, make([]byte, 47)...)), twoHops...)
	expect(t, capture(t, frame), append([]want{
		{"frame.protocols", "eth:ethertype:ip:udp:int:ntp"},
		{"int.type", "1"}, {"int.npt", "1"}, {"int.length", "27"}, {"int.udp_port", "123"},
		{"int.md.version", "2"}, {"int.md.d", "1"}, {"int.md.e", "0"}, {"int.md.m", "0"},
		{"int.md.hop_ml", "12"}, {"int.md.remaining_hops", "7"},
		{"int.md.bitmap", "0xff80"}, {"int.md.bitmap.node_id", "1"}, {"int.md.bitmap.checksum_complement", "0"},
		{"int.md.domain", "0x0000"}, {"int.malformed", ""}, {"ntp.flags.mode", "3"},
	}, twoHopValues...))
}

func TestNewUDPHeader(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByNewUDP, UDPPort: 6000, Bitmap: everything, MaxHops: 9}
	file := capture(t, insert(t, s, flow(intgen.TCP, 443).Frame(40, 77), twoHops...))
	expect(t, file, append([]want{
		{"int.npt", "2"}, {"int.ip_proto", "6"}, {"int.malformed", ""},
		{"tcp.srcport", "40001"}, {"tcp.dstport", "443"}, {"tcp.seq_raw", "77"}, {"tcp.len", "40"},
	}, twoHopValues...), "-o", "int.udp_port:6000")
	expect(t, file, []want{{"int.type", ""}})
}

// The tree in JSON: one object a hop, each with its own values.
func TestJSON(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: intgen.DefaultBitmap, MaxHops: 9}
	file := capture(t, insert(t, s, udp(9, make([]byte, 20)), twoHops...))
	out := tshark(t, file, "-T", "json", "--no-duplicate-keys")
	type layers struct {
		INT struct {
			Hops []map[string]string `json:"int.hop"`
		} `json:"int"`
	}
	var packets []struct {
		Source struct {
			Layers layers `json:"layers"`
		} `json:"_source"`
	}
	if err := json.Unmarshal([]byte(out), &packets); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hops := packets[0].Source.Layers.INT.Hops
	if len(hops) != 2 || hops[0]["int.hop.node_id"] != "7" || hops[1]["int.hop.tx_utilization"] != "40" {
		t.Errorf("got %v", hops)
	}
}

func TestMarks(t *testing.T) {
	dscp := &intgen.Source{Marking: intgen.ByDSCP, DSCP: 0x17, Mask: 0x3f, Bitmap: everything, MaxHops: 9}
	probe := &intgen.Source{Marking: intgen.ByProbeMarker, ProbeMarker: 0x0102030405060708, Bitmap: everything, MaxHops: 9}
	for _, proto := range []uint8{intgen.TCP, intgen.UDP} {
		f := flow(proto, 9001)
		f.DSCP = 10
		plain := f.Frame(40, 5)
		f.Src, f.Dst = flow6()
		byDSCP, byProbe := capture(t, insert(t, dscp, plain, twoHops...)), capture(t, insert(t, probe, plain, twoHops...))
		byDSCP6 := capture(t, insert(t, dscp, f.Frame(40, 5), twoHops...))
		mark := []string{"-o", "int.dscp_on:TRUE", "-o", "int.dscp:23"}
		for _, file := range []string{byDSCP, byDSCP6} {
			expect(t, file, append([]want{{"int.npt", "0"}, {"int.dscp", "10"}, {"data.len", "40"}}, twoHopValues...), mark...)
		}
		expect(t, byProbe, append([]want{{"int.probe_marker", "0x0102030405060708"}, {"data.len", "40"}}, twoHopValues...),
			"-o", "int.probe_marker:0x0102030405060708")
		expect(t, byDSCP, []want{{"int.type", ""}})
		expect(t, byProbe, []want{{"int.type", ""}}, mark...)
	}
}

// intBody is INT-MD of the two hops without its shim.
func intBody(t *testing.T) []byte {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: 0x8000, MaxHops: 9}
	b := insert(t, s, udp(9, nil), twoHops...)
	return b[udpPayload+4:]
}

func TestGRE(t *testing.T) {
	inner := flow(intgen.UDP, 9001).Frame(10, 2)[14:]
	body := intBody(t)
	b := slices.Concat([]byte{0, 0, 0x88, 0xb6, 0x18, uint8(len(body) / 4), 0x08, 0x00}, body, inner)
	frame := udp(1, b)
	const gre = 47
	frame[23] = gre
	frame = slices.Delete(frame, 34, udpPayload)
	binary.BigEndian.PutUint16(frame[16:], uint16(20+len(b)))
	file := capture(t, frame)
	expect(t, file, []want{
		{"frame.protocols", "eth:ethertype:ip:gre:int_gre:ip:udp:data"},
		{"int.g", "1"}, {"int.ethertype", "0x0800"}, {"int.hop.node_id", "7,8"}, {"udp.dstport", "9001"}, {"int.malformed", ""},
	})
	expect(t, file, []want{{"int.type", ""}}, "-o", "int.gre_protocol:1")
}

// Two shims, MD then Destination, and the payload that the second one names.
func TestVXLANGPE(t *testing.T) {
	inner := flow(intgen.UDP, 9001).Frame(10, 2)
	body := intBody(t)
	frame := udp(4790, slices.Concat(
		[]byte{0x0c, 0, 0, 0x82, 0, 0, 5, 0},
		[]byte{0x10, uint8(len(body) / 4), 0x80, 0x82}, body,
		[]byte{0x20, 1, 0, 3, 0xca, 0xfe, 0xba, 0xbe}, inner))
	expect(t, capture(t, frame), []want{
		{"frame.protocols", "eth:ethertype:ip:udp:int_gpe:int_gpe:eth:ethertype:ip:udp:data"},
		{"int.type", "1,2"}, {"int.g", "1,0"}, {"int.next_protocol", "0x82,0x03"},
		{"int.hop.node_id", "7,8"}, {"int.destination", "cafebabe"}, {"udp.dstport", "4790,9001"}, {"int.malformed", ""},
	})
}

func TestGeneve(t *testing.T) {
	inner := flow(intgen.UDP, 9001).Frame(10, 2)
	body := intBody(t)
	words := uint8(len(body) / 4)
	frame := udp(6081, slices.Concat([]byte{words + 1 + 2, 0, 0x65, 0x58, 0, 0, 5, 0},
		[]byte{0xff, 0xf0, 1, 1, 1, 2, 3, 4}, []byte{0x01, 0x03, 1, words}, body, inner))
	expect(t, capture(t, frame), []want{
		{"int.type", "1"}, {"int.length", "5"}, {"int.hop.node_id", "7,8"}, {"udp.dstport", "6081,9001"}, {"int.malformed", ""},
	})
}

// INT-MX with source-inserted metadata, source-only metadata below a stack, and
// domain specific metadata in front of the checksum complement.
func TestOtherParts(t *testing.T) {
	mx := words(0x34040009, 0x28000000, 0x8000_0001, 0x8000_0000, 0xabcd0000)
	expect(t, capture(t, udp(5000, mx)), []want{
		{"int.type", "3"}, {"int.mx.version", "2"}, {"int.mx.d", "1"}, {"int.mx.bitmap", "0x8000"},
		{"int.mx.domain", "0x0001"}, {"int.source_metadata", "abcd0000"}, {"int.malformed", ""},
	})
	security := words(0x14070009, 0x2000_0105, 0x8000_5453, 0x8000_4000, 1, 2, 0xa61af6b1, 0x647d0000)
	expect(t, capture(t, udp(5000, security)), []want{
		{"int.md.domain", "0x5453"}, {"int.hop.node_id", "1,2"}, {"int.source_metadata", "a61af6b1647d0000"}, {"int.malformed", ""},
	})
	complement := words(0x14060009, 0x2000_0305, 0x8001_0001, 0x8000_0000, 1, 0xd5d5d5d5, 0xffffffff)
	expect(t, capture(t, udp(5000, complement)), []want{
		{"int.hop.node_id", "1"}, {"int.hop.ds_metadata", "d5d5d5d5"}, {"int.hop.checksum_complement", "0xffffffff"}, {"int.malformed", ""},
	})
	old := words(0x0100_0a28, 0x12000206, 0xd000_0000, 1, 0x0002_0003, 0x04000005, 6, 0x0007_0008, 0x09000010)
	old[3], old[2] = 10<<2, 9
	old[4+2] = 3
	expect(t, capture(t, udp(5000, old)), []want{
		{"int.type", "1"}, {"int.length", "9"}, {"int.dscp", "10"}, {"int.v1.version", "1"}, {"int.v1.c", "1"},
		{"int.v1.remaining_hops", "6"}, {"int.hop.node_id", "1,6"}, {"int.hop.ingress_interface_id", "2,7"},
		{"int.hop.queue_occupancy", "5,16"}, {"int.malformed", ""},
	})
}

// words are big-endian.
func words(w ...uint32) (b []byte) {
	for _, x := range w {
		b = binary.BigEndian.AppendUint32(b, x)
	}
	return b
}

// TestLengthsThatDoNotAgree: Hop ML, the instructions and the stack.
func TestLengthsThatDoNotAgree(t *testing.T) {
	geant := words(0x0100_0928, 0x10000607, 0xcc00_0000, 1, 0x0001_0002, 0x00038d7e, 0xa4c68001, 0x00038d7e, 0xa4c681f5)
	geant[2], geant[3] = 9, 10<<2
	expect(t, capture(t, udp(5000, geant)), []want{
		{"int.hop.node_id", "1"}, {"int.hop.ingress_timestamp", "1000000000000001"}, {"int.hop.egress_timestamp", "1000000000000501"}, {"int.malformed", ""},
	})
	both := words(0x01000720, 0x10000407, 0x8a000000, 1, 100, 5, 6) // as long by the document as by GEANT's programs
	expect(t, capture(t, udp(5000, both)), []want{
		{"int.hop.node_id", "1"}, {"int.hop.ingress_timestamp", "100"}, {"int.hop.level2_ingress_interface_id", "5"}, {"int.hop.level2_egress_interface_id", "6"}, {"int.malformed", ""},
	})
	for _, c := range []struct {
		name, problem string
		b             []byte
	}{
		{"INT 1.0, a Hop ML that is too long", "the Instruction Bitmap asks for less than Hop ML", words(0x0100_0628, 0x10000307, 0xc000_0000, 1, 0x0001_0002, 3)},
		{"INT 2.1 without a domain, a Hop ML that is too long", "the Instruction Bitmap asks for less than Hop ML", words(0x14060009, 0x20000307, 0xc000_0000, 0, 1, 0x0001_0002, 3)},
		{"INT 2.1 without a domain, a rest", "the stack is not whole hops", words(0x14060009, 0x20000207, 0xc000_0000, 0, 1, 0x0001_0002, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.b[0] == 1 {
				c.b[2], c.b[3] = 6, 10<<2
			}
			out := tshark(t, capture(t, udp(5000, c.b)), "-V", "-O", "int")
			if !strings.Contains(out, c.problem) || strings.Contains(out, "Hop 1") {
				t.Error(out)
			}
		})
	}
}

// A value that a node could not provide is said to be missing.
func TestNotAvailable(t *testing.T) {
	s := &intgen.Source{Marking: intgen.ByPort, UDPPort: 5000, Bitmap: 0xb000, MaxHops: 9}
	frame := insert(t, s, udp(9, nil), intgen.Hop{NodeID: 3, LatencyNs: 0xffffffff, QueueID: 255, QueueOccupancy: 4})
	out := tshark(t, capture(t, frame), "-V", "-O", "int")
	if strings.Count(out, "(not available)") != 1 || !strings.Contains(out, "Hop Latency: 4294967295 ns (not available)") {
		t.Error(out)
	}
}
