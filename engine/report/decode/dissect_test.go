package decode

import (
	"fmt"
	"strings"
	"testing"

	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/engine/report/reporttest"
)

// dissected is the JSON of a packet's flow and INT.
func dissected(t *testing.T, d *Decoder, in report.InType, packet string) string {
	t.Helper()
	flow, stack := d.dissect(in, reporttest.Hex(t, packet))
	return reporttest.ToJSON(t, flow) + reporttest.ToJSON(t, stack)
}

const (
	udp4Hex = `4500 %04x 0001 4000 40 11 0000 0a000001 0a000002 9c40 %04x %04x 0000` // total length, port, UDP length
	ip6Hex  = `6%02x00000 %04x %02x 40 20010db8000000000000000000000001 20010db8000000000000000000000002`
	oneHop  = `20000007 c000 0000 0000 0000 00000001 00020003`
)

// udp4 is an IPv4 UDP packet to port with the given payload.
func udp4(t *testing.T, port int, payload string) string {
	n := len(reporttest.Hex(t, payload))
	return fmt.Sprintf(udp4Hex, 28+n, port, 8+n) + payload
}

func TestDissect(t *testing.T) {
	dscp := &Decoder{INTPorts: []uint16{5000}, DSCP: 23, DSCPMask: 63}
	hop := strings.Replace(oneHop, "20000007", "20000207", 1)
	for _, c := range []struct {
		name   string
		d      *Decoder
		in     report.InType
		packet string
		want   []string
	}{
		{"tags of other types", plain, report.Ethernet, `020000000002 020000000001 9100 0064 9200 e0c8 0800` + reporttest.IPv4TCPHex,
			[]string{`"vlans":[100,200],"ethertype":2048,"source":"10.0.0.1"`}},
		{"QinQ", plain, report.Ethernet, `020000000002 020000000001 88a8 0064 8100 e0c8 0800` + reporttest.IPv4TCPHex,
			[]string{`"vlans":[100,200],"ethertype":2048,"source":"10.0.0.1"`, `"destination_port":80,"tcp_flags":24}null`}},
		{"not IP", plain, report.Ethernet, `ffffffffffff 020000000001 0806 0001`,
			[]string{`{"source_mac":"02:00:00:00:00:01","destination_mac":"ff:ff:ff:ff:ff:ff","ethertype":2054}null`}},
		{"UDP to another port", plain, report.IPv4, udp4(t, 5001, `14 05 0035`+hop), []string{`"destination_port":5001}null`}},
		{"INT after UDP", plain, report.IPv4, udp4(t, 5000, `14 05 0035`+hop),
			[]string{`"destination_port":53}`, `"npt":1`, `"hops":[{"node_id":1,"ingress_interface_id":2,"egress_interface_id":3}]}`}},
		{"IPv6 with extension headers", plain, report.IPv6, fmt.Sprintf(ip6Hex, 0x5c, 54, 0) + `3c00 0000 00000000 1100 0000 00000000` +
			`9c40 1388 0026 0000 14 05 0035` + hop + `aaaa`,
			[]string{`"source":"2001:db8::1","destination":"2001:db8::2","length":94,"dscp":23,"protocol":17,"source_port":40000,"destination_port":53}`, `"node_id":1`}},
		{"IPv6 fragment, later", plain, report.IPv6, fmt.Sprintf(ip6Hex, 0, 16, 44) + `1100 0008 00000001 9c40 1388 0008 0000`,
			[]string{`"protocol":17}null`}},
		{"IPv4 fragment, later", plain, report.IPv4, `4500 001c 0001 0001 40 11 0000 0a000001 0a000002 9c40 1388 0008 0000`, []string{`"protocol":17}null`}},
		{"TCP with options, marked by DSCP", dscp, report.IPv4, `455c 0048 0001 4000 40 06 0000 0a000001 0a000002
			9c40 0050 00000001 00000002 6018 0200 1234 0000 01010101 10 05 00 28` + hop,
			[]string{`"dscp":10,"protocol":6,"source_port":40000,"destination_port":80,"tcp_flags":24}`, `"npt":0`, `"node_id":1`}},
		{"probe marker", &Decoder{ProbeMarker: 0x0102030405060708}, report.IPv4, udp4(t, 53, `0102030405060708 10 05 0000`+hop),
			[]string{`"dscp":0,"protocol":17,"source_port":40000,"destination_port":53}`, `"npt":0`, `"node_id":1`}},
		{"another probe marker", &Decoder{ProbeMarker: 0x0102030405060708}, report.IPv4, udp4(t, 53, `0102030405060709 10 05 0028`+hop), []string{`}null`}},
		{"marked, but no shim", dscp, report.IPv4, `455c 002c 0001 4000 40 06 0000 0a000001 0a000002
			9c40 0050 00000001 00000002 5018 0200 1234 0000 47455420`, []string{`"dscp":23`, `"tcp_flags":24}null`}},
		{"shim without room for a header", plain, report.IPv4, udp4(t, 5000, `14 02 0035 20000007 c0000000`), []string{`"destination_port":5000}null`}},
		{"unknown INT version", plain, report.IPv4, udp4(t, 5000, `14 05 0035`+strings.Replace(hop, "2", "3", 1)), []string{`}null`}},
		{"unknown INT type", plain, report.IPv4, udp4(t, 5000, `44 05 0035`+hop), []string{`}null`}},
		{"NPT 0 behind the port", plain, report.IPv4, udp4(t, 5000, `10 05 0000`+hop), []string{`}null`}},
		{"flags", plain, report.IPv4, udp4(t, 5000, `14 05 0035`+strings.Replace(hop, "20", "2e", 1)),
			[]string{`"discard":true,"max_hop_count_exceeded":true,"mtu_exceeded":true,"hop_ml":2,"remaining_hop_count":7`}},
		{"MX", plain, report.IPv4, udp4(t, 5000, `34 04 0035 28000000 c000 5453 8000 4000 a61af6b1`),
			[]string{`"type":"mx"`, `"discard":true,"instruction_bitmap":49152,"domain_specific_id":21587,"ds_instruction":32768,"ds_flags":16384,"source_metadata":"a61af6b1"}`}},
		{"destination", plain, report.IPv4, udp4(t, 5000, `24 01 0035 deadbeef`), []string{`{"type":"destination","shim_length":1,"npt":1,"discard":false,"source_metadata":"deadbeef"}`}},
		{"MD and destination", plain, report.IPv4, udp4(t, 5000, `14 05 1388`+hop+`24 01 0035 deadbeef`),
			[]string{`"destination_port":53}`, `"hops":[{"node_id":1`, `"next":{"type":"destination"`}},
		{"INT in two layers", plain, report.IPv4, udp4(t, 5000, `18 05 0011`+hop+`9c41 1388 0020 0000 14 05 0035`+hop),
			[]string{`"protocol":17,"source_port":40001,"destination_port":53}`, `"next":{"type":"md","shim_length":5,"npt":1`}},
		{"all ones", plain, report.IPv4, udp4(t, 5000, `14 05 0035 20000207 c000 0000 0000 0000 ffffffff ffff0003`),
			[]string{`"hops":[{"node_id":null,"ingress_interface_id":null,"egress_interface_id":3}]`}},
		{"domain specific metadata in front of the complement", plain, report.IPv4, udp4(t, 5000, `14 06 0035 20000307 8001 0001 8000 0000 00000001 cafebabe 0000abcd`),
			[]string{`"hops":[{"node_id":1,"checksum_complement":43981,"ds_metadata":"cafebabe"}]`}},
		{"a rest that only the source of an unknown domain can have added", plain, report.IPv4, udp4(t, 5000, `14 06 0035 20000207 c000 0007 4000 0000 00000001 00020003 cafebabe`),
			[]string{`"hops":[{"node_id":1,"ingress_interface_id":2,"egress_interface_id":3}],"source_metadata":"cafebabe"`}},
		{"a rest without a domain", plain, report.IPv4, udp4(t, 5000, `14 06 0035`+hop+`cafebabe`),
			[]string{`"source_metadata":"0000000100020003cafebabe","problem":"a stack of 3 words is not whole hops of 2"`}},
		{"Hop ML longer than the bitmap", plain, report.IPv4, udp4(t, 5000, `14 06 0035 20000307 c000 0000 0000 0000 00000001 00020003 cafebabe`),
			[]string{`"source_metadata":"0000000100020003cafebabe","problem":"the instructions ask for 2 words a hop, Hop ML is 3"`}},
		{"INT 1.0 with a Hop ML longer than the bitmap", plain, report.IPv4, udp4(t, 4790, `0c000008 00000700 01000600 10000307 c000 0000 00000001 00020003 cafebabe`),
			[]string{`"source_metadata":"0000000100020003cafebabe","problem":"the Instruction Bitmap asks for 2 words a hop, Hop ML is 3"`}},
		{"INT 1.0 with timestamps of 64 bits", dscp, report.IPv4, `455c 0040 0001 4000 40 11 0000 0a000001 0a000002 9c40 0035 002c 0000
			01 00 09 20 10000607 cc00 0000 00000001 00010002 00038d7ea4c68001 00038d7ea4c681f5`,
			[]string{`"hops":[{"node_id":1,"ingress_interface_id":1,"egress_interface_id":2,"ingress_timestamp":1000000000000001,"egress_timestamp":1000000000000501}]}`}},
		{"INT 1.0 whose stack is no whole hops", plain, report.IPv4, udp4(t, 4790, `0c000008 00000700 01000600 10000207 c000 0000 00000001 00020003 cafebabe`),
			[]string{`"source_metadata":"0000000100020003cafebabe","problem":"a stack of 3 words is not whole hops of 2"`}},
		{"Hop ML 0", plain, report.IPv4, udp4(t, 5000, `14 04 0035 20000007 8000 0000 0000 0000 00000001`), []string{`"source_metadata":"00000001","problem":"Hop ML is 0`}},
		{"Hop ML shorter than the bitmap", plain, report.IPv4, udp4(t, 5000, `14 05 0035 20000107 c000 0000 0000 0000 00000001 00020003`), []string{`"problem":"the instructions ask for 2 words a hop, Hop ML is 1`}},
		{"no hops", plain, report.IPv4, udp4(t, 5000, `14 03 0035 20000207 c000 0000 0000 0000`), []string{`"ds_flags":0}`}},
		{"INT 1.0", dscp, report.IPv4, `455c 0034 0001 4000 40 11 0000 0a000001 0a000002 9c40 0035 0020 0000
			01 00 06 28 10000307 8c00 0000 00000001 00000064 00000065`,
			[]string{`"dscp":10`, `"type":"md","shim_length":6,"npt":0,"ver":1`, `"hops":[{"node_id":1,"ingress_timestamp":100,"egress_timestamp":101}]`}},
		{"INT in front of the TCP options", dscp, report.IPv4, `455c 0048 0001 4000 40 06 0000 0a000001 0a000002
			9c40 0050 00000001 00000002 6018 0200 1234 0000 10 05 00 28` + hop + `02040578`,
			[]string{`"dscp":10`, `"npt":0`, `"node_id":1`}},
		{"cut in the TCP options", dscp, report.IPv4, `455c 0048 0001 4000 40 06 0000 0a000001 0a000002
			9c40 0050 00000001 00000002 8018 0200 1234 0000 01010402`, []string{`"tcp_flags":24}null`}},
		{"VXLAN-GPE, chained", plain, report.IPv4, udp4(t, 4790, `0c000082 00007b00 10 05 00 82`+hop+`20 01 80 03 deadbeef 020000000002`),
			[]string{`"destination_port":4790}`, `{"type":"md","shim_length":5`, `"node_id":1`, `"next":{"type":"destination","shim_length":1`, `"source_metadata":"deadbeef"}`}},
		{"VXLAN-GPE without INT", plain, report.IPv4, udp4(t, 4790, `0c000003 00007b00 10 05 00 82`+hop), []string{`}null`}},
		{"VXLAN-GPE without P", plain, report.IPv4, udp4(t, 4790, `08000082 00007b00 10 05 00 82`+hop), []string{`}null`}},
		{"Geneve behind another option", plain, report.IPv4, udp4(t, 6081, `08006558 00007b00 0104 80 01 deadbeef 0103 01 05`+hop+`020000000002`),
			[]string{`"destination_port":6081}`, `{"type":"md","shim_length":5`, `"hops":[{"node_id":1`}},
		{"Geneve option beyond the options", plain, report.IPv4, udp4(t, 6081, `05006558 00007b00 0103 01 05`+hop+`020000000002`), []string{`"type":"md"`, `"truncated":true`}},
		{"Geneve without INT", plain, report.IPv4, udp4(t, 6081, `02006558 00007b00 0104 01 01 deadbeef`), []string{`}null`}},
		{"GRE", plain, report.IPv4, `4500 0038 0001 4000 40 2f 0000 0a000001 0a000002 0000 88b6 10 05 6558` + hop, []string{`"protocol":47}`, `"hops":[{"node_id":1`}},
		{"GRE with checksum, key and sequence number", plain, report.IPv4, `4500 0044 0001 4000 40 2f 0000 0a000001 0a000002 b000 88b6 00000001 00000002 00000003 18 05 0800` + hop,
			[]string{`"protocol":47}`, `"hops":[{"node_id":1`}},
		{"GRE without INT", plain, report.IPv4, `4500 0038 0001 4000 40 2f 0000 0a000001 0a000002 0000 0800 10 05 6558` + hop, []string{`"protocol":47}null`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := dissected(t, c.d, c.in, c.packet)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
		})
	}
}

// A packet that is cut shows the hops that are whole, and says that it is cut.
func TestDissectCut(t *testing.T) {
	packet := reporttest.Hex(t, reporttest.INTTCPHex)
	const stack = 20 + 8 + 4 + 12 // where the hops start, eight bytes each
	for n := range packet {
		flow, s := plain.dissect(report.IPv4, packet[:n])
		switch {
		case n < 20 && flow.Source != "", n >= 20 && flow.Source != "10.0.0.1":
			t.Errorf("%d bytes: source %q", n, flow.Source)
		case n < 32 && s != nil, n >= 32 && s == nil:
			t.Errorf("%d bytes: INT %v", n, s)
		case s == nil:
			continue
		}
		if want := min(max(n-stack, 0)/8, 2); len(s.Hops) != want {
			t.Errorf("%d bytes: %d hops, want %d", n, len(s.Hops), want)
		}
		if want := n < stack+16; s.Truncated != want {
			t.Errorf("%d bytes: truncated %v", n, s.Truncated)
		}
		if (s.Version != nil) != (n >= stack) {
			t.Errorf("%d bytes: version %v", n, s.Version)
		}
		if *flow.Protocol != 6 {
			t.Errorf("%d bytes: protocol %d, want the original one", n, *flow.Protocol)
		}
		if (flow.SourcePort != nil) != (n >= stack+16+2) || (flow.DestinationPort != nil) != (n >= stack+16+4) {
			t.Errorf("%d bytes: ports %v, %v", n, flow.SourcePort, flow.DestinationPort)
		}
	}
}

// Zeros that only pad the report are no metadata.
func TestDissectPadding(t *testing.T) {
	wire := udp4(t, 5000, `14 05 0035 20000207 c000 0000 0000 0000 00000001 00020003 aa`) + `000000`
	if got := dissected(t, plain, report.IPv4, wire); !strings.Contains(got, `"length":53`) || strings.Contains(got, "truncated") {
		t.Error(got)
	}
	// The IP length ends one byte into the next header: not enough for a shim.
	wire = udp4(t, 5000, `14 05 1388 20000207 c000 0000 0000 0000 00000001 00020003 24`) + `000000`
	if got := dissected(t, plain, report.IPv4, wire); strings.Contains(got, "next") {
		t.Error(got)
	}
}

// TestConfigured: INT is found where a sink's configuration says, and only there.
func TestConfigured(t *testing.T) {
	const hop = `20000207 c000 0000 0000 0000 00000001 00020003`
	port, gre, marker := uint16(7000), uint16(0x4321), uint64(0x0102030405060708)
	domain := inthdr.Domain{ID: 7}
	domain.Bits[0].Length, domain.Bits[1].Length, domain.Bits[1].SourceOnly = 4, 8, true
	d := Configured(inthdr.Config{
		UDPPort: &port, DSCP: &inthdr.DSCP{Value: 23, Mask: 63}, GREProtocol: &gre, ProbeMarker: &marker, ProbePorts: []inthdr.PortRange{{First: 53, Last: 54}},
		VXLANGPE: &inthdr.VXLANGPE{Port: 14790, NextProtocol: 0x99}, Geneve: &inthdr.Geneve{Port: 16081, OptionClass: 0x0777}, Domains: []inthdr.Domain{domain},
	})
	const found, none = `"node_id":1,"ingress_interface_id":2`, `}null`
	inclusive := Configured(inthdr.Config{UDPPort: &port, ShimInclusive: true})
	for _, c := range []string{udp4(t, 7000, `14 06 0035`+hop), `4500 0038 0001 4000 40 2f 0000 0a000001 0a000002 0000 88b6 10 06 6558` + hop} {
		if got := dissected(t, inclusive, report.IPv4, c); !strings.Contains(got, `"shim_length":6`) || !strings.Contains(got, `"egress_interface_id":3}]}`) {
			t.Errorf("a Length that counts the shim: %s", got)
		}
	}
	for _, c := range []struct{ name, packet, want string }{
		{"UDP port", udp4(t, 7000, `14 05 0035`+hop), found},
		{"UDP port of others", udp4(t, 5000, `14 05 0035`+hop), none},
		{"DSCP", strings.Replace(udp4(t, 53, `10 05 0000`+hop), "4500", "455c", 1), found},
		{"probe marker", udp4(t, 54, `0102030405060708 10 05 0000`+hop), found},
		{"probe marker on another port", udp4(t, 55, `0102030405060708 10 05 0000`+hop), none},
		{"GRE", `4500 0038 0001 4000 40 2f 0000 0a000001 0a000002 0000 4321 10 05 6558` + hop, found},
		{"GRE protocol of others", `4500 0038 0001 4000 40 2f 0000 0a000001 0a000002 0000 88b6 10 05 6558` + hop, none},
		{"VXLAN-GPE", udp4(t, 14790, `0c000099 00007b00 10 05 00 03`+hop), found},
		{"VXLAN-GPE protocol of others", udp4(t, 14790, `0c000082 00007b00 10 05 00 03`+hop), none},
		{"Geneve", udp4(t, 16081, `06006558 00007b00 0777 01 05`+hop), found},
		{"Geneve class of others", udp4(t, 16081, `06006558 00007b00 0103 01 05`+hop), none},
		{"inside of Geneve", udp4(t, 16081, `00000800 00007b00`+udp4(t, 7000, `14 05 0035`+hop)), found},
		{"domain", udp4(t, 7000, `14 08 0035 20000307 c000 0007 c000 0000 00000001 00020003 cafebabe 1111111122222222`),
			`"hops":[{"node_id":1,"ingress_interface_id":2,"egress_interface_id":3,"ds_metadata":"cafebabe"}],"source_metadata":"1111111122222222"`},
		{"domain whose lengths do not agree", udp4(t, 7000, `14 06 0035 20000207 c000 0007 8000 0000 00000001 00020003 cafebabe`),
			`"problem":"the instructions ask for 3 words a hop, Hop ML is 2"`},
		{"domain, what the source alone adds", udp4(t, 7000, `14 05 0035 20000207 c000 0007 4000 0000 1111111122222222`), `"source_metadata":"1111111122222222"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := dissected(t, d, report.IPv4, c.packet); !strings.Contains(got, c.want) || c.want != none && strings.Contains(got, none) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
