package wireshark_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"intsink/engine/wire/intgen"
)

// ifaHops is what the dissector shows of twoHops in IFA: of the receive time 20 bits of seconds.
var ifaHops = []want{
	{"int.hop_count", "2"}, {"int.hop.node_id", "7,8"}, {"int.hop.ttl", "60,61"}, {"int.hop.lns", "1,1"}, {"int.hop.speed", "4,4"},
	{"int.hop.ingress_interface_id", "11,31"}, {"int.hop.egress_interface_id", "12,32"}, {"int.hop.hop_latency", "13000,33000"},
	{"int.hop.queue_id", "14,34"}, {"int.hop.rx_seconds", "258304,258304"}, {"int.hop.rx_nanoseconds", "16,36"}, {"int.malformed", ""}, {"int.cut", ""},
}

// TestIFA: hops of IFA wherever it may stand, and behind them the packet as it was sent.
func TestIFA(t *testing.T) {
	const (
		tcp = intgen.TCP
		udp = intgen.UDP
	)
	for name, c := range map[string]struct {
		proto uint8
		six   bool
		ifa   intgen.IFA
		more  []want
	}{
		"UDP":           {proto: udp, more: []want{{"int.ifa.i", "1"}, {"int.ifa.gns", "15"}, {"int.ifa.length", "16"}, {"int.ifa.hop_limit", "255"}}},
		"TCP over IPv6": {proto: tcp, six: true, more: []want{{"int.ip_proto", "6"}}},
		"copy, 28":      {proto: udp, ifa: intgen.IFA{Copy: true, HopLen: 28}, more: []want{{"int.ifa.i", "0"}, {"int.ifa.length", "14"}}},
		"20, checksum":  {proto: tcp, ifa: intgen.IFA{HopLen: 20, Checksum: true}, more: []want{{"int.ifa.checksum", "0x1234"}}},
		"fragment":      {proto: udp, ifa: intgen.IFA{Part: true}, more: []want{{"int.ifa.packet_id", "4"}, {"int.ifa.last", "1"}}},
		"tail":          {proto: tcp, ifa: intgen.IFA{Tail: true}, more: []want{{"int.ifa.ts", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := flow(c.proto, 9001)
			if c.six {
				f.Src, f.Dst = flow6()
			}
			frame := insert(t, &intgen.Source{Marking: intgen.ByIFA, Formats: intgen.Formats{IFA: c.ifa}}, f.Frame(40, 77), twoHops...)
			wants := slices.Concat(ifaHops, c.more, []want{{"data.len", "40"}, {"ip.checksum.status", "1"}})
			if c.six {
				wants = wants[:len(wants)-1]
			}
			if c.proto == tcp {
				wants = append(wants, want{"tcp.dstport", "9001"}, want{"tcp.seq_raw", "77"}, want{"tcp.checksum.status", "1"})
			} else {
				wants = append(wants, want{"udp.dstport", "9001"}, want{"udp.length.bad", ""}, want{"udp.checksum.status", "1"})
			}
			expect(t, capture(t, frame), wants, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
		})
	}
}

// TestIFAFromSwitch: a packet as it came out of a switch.
func TestIFAFromSwitch(t *testing.T) {
	frame, err := hex.DecodeString("b8cef60ffcbb00005e00010908004500009e000100003ffdd8b10b53c5840b53c5862f110080808190910066000000001e08" +
		"16425c3f0000f8e0007e007b30b81f9e3b9accda000000000000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	for len(frame) < 172 {
		frame = append(frame, 0xff)
	}
	expect(t, capture(t, frame), []want{
		{"int.hop.node_id", "410204"}, {"int.hop.ttl", "63"}, {"int.hop.ingress_interface_id", "123"}, {"int.hop.egress_interface_id", "126"},
		{"int.hop.hop_latency", "1000000730"}, {"int.hop.rx_seconds", "63712"}, {"int.ifa.i", "0"}, {"udp.srcport", "32897"}, {"int.malformed", ""},
	})
}

// TestIFAThatIsNone: another version, lengths beyond the packet, flags that exclude each other, hops of another layout.
func TestIFAThatIsNone(t *testing.T) {
	good := insert(t, &intgen.Source{Marking: intgen.ByIFA}, flow(intgen.UDP, 9001).Frame(40, 77), twoHops...)
	const header, metadata = 34, 34 + 4 + 8
	for _, c := range []struct {
		name                         string
		at                           int
		to                           byte
		malformed, version, undecode bool
	}{
		{"version 3", header, 0x3f, false, false, false},
		{"ESP", header + 1, 50, true, true, false},
		{"TS and C", header + 2, 1<<3 | 1, true, true, false},
		{"stack beyond the packet", metadata + 3, 255, true, true, false},
		{"half a hop", metadata + 3, 9, false, true, true},
		{"another namespace of hops", metadata + 4, 0x20, false, true, true},
		{"a global namespace", header, 0x23, false, true, true},
	} {
		frame := slices.Clone(good)
		frame[c.at] = c.to
		got := fields(t, capture(t, frame), []string{"int.malformed", "int.ifa.version", "int.undecoded", "int.hop.node_id"})[0]
		if (got[0] != "") != c.malformed || (got[1] != "") != c.version || (got[2] != "") != c.undecode || got[3] != "" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	expect(t, snapped(t, metadata+4+32+20, good), []want{{"int.malformed", ""}, {"int.cut", "1"}, {"int.hop.node_id", "7"}, {"udp.dstport", "9001"}})
	expect(t, capture(t, good), []want{{"int.type", ""}, {"int.ifa.version", ""}}, "-o", "int.ifa_protocol:131")
}
