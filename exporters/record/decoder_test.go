package record

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/engine/wire/report/decode"
	"intsink/engine/wire/report/reporttest"
)

var testOrigin = Origin{Exporter: netip.MustParseAddr("192.0.2.7"), Received: 1763776801_000000000, Start: 1763776000_000000000, Sequence: 7}

// lines returns the records of a packet as JSON, without the fields that all have in common.
func lines(t testing.TB, d *Decoder, packet []byte) (all []string, err error) {
	t.Helper()
	n, err := d.Records(packet, &testOrigin, func(r *Record) {
		s := string(AppendJSON(nil, r))
		at := strings.Index(s, `,"dropped":`)
		if events := strings.Index(s, `,"events":`); events >= 0 {
			at = events
		}
		all = append(all, s[at+1:len(s)-1])
	})
	if n != len(all) {
		t.Errorf("%d records were yielded, Records says %d", len(all), n)
	}
	return all, err
}

const (
	groupHex = `2 1 400007 00000003`
	etherHex = `020000000002 020000000001 0800`
	tcpHex   = `9c40 0050 00000001 00000002 5018 0200 1234 0000`
	ipHex    = `4500 0028 0001 4000 40 06 0000 0a000001 0a000002` + tcpHex
	noFlags  = `"dropped":false,"congested":false,"tracked":false`
	tracked  = `"dropped":false,"congested":false,"tracked":true`
	tcpFlow  = `"flow":"tcp:10.0.0.1:40000-10.0.0.2:80","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":80,"protocol":6,"dscp":0,"ecn":0`
)

// udp4 returns an IPv4 UDP packet to port with the given payload.
func udp4(t testing.TB, port int, payload string) string {
	n := len(reporttest.Hex(t, payload))
	b := reporttest.Hex(t, `4500 0000 0001 4000 40 11 0000 0a000001 0a000002 9c40 0000 0000 0000`)
	binary.BigEndian.PutUint16(b[2:], uint16(28+n))
	binary.BigEndian.PutUint16(b[22:], uint16(port))
	binary.BigEndian.PutUint16(b[24:], uint16(8+n))
	return hex.EncodeToString(b) + payload
}

// ip returns a report packet with one report, of an IPv4 packet.
func ip(t testing.TB, packet string) string {
	n := len(reporttest.Hex(t, packet))
	return groupHex + `04` + hex.EncodeToString([]byte{byte((n + 3) / 4)}) + `00 20` + packet + strings.Repeat("00", (4-n%4)%4)
}

func TestGoldenReports(t *testing.T) {
	// Ingress 1000, egress 2000: the lower 32 bits of nanoseconds, nearest to the time of receipt.
	const stamp = `"ingress_time":"2025-11-22T02:00:01.693238248Z"`
	const stamps = stamp + `,"egress_time":"2025-11-22T02:00:01.693239248Z"`
	for _, c := range []struct{ file, want string }{
		{"baseline", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"sink":{"ingress":1,"egress":2,"queue":3,"occupancy":68}`},
		{"domain_specific", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"sink":{"ingress":1,"egress":2,"queue":3,"occupancy":68},"ds_metadata":"cafebabe",` +
			`"tlvs":[{"type":"ds_extension","template":66,"data":"deadbeef"}]`},
		{"int_tcp", tracked + `,"flow":"tcp:10.0.0.1:40000-10.0.0.2:80","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":80,"protocol":6,"dscp":23,"ecn":0,` +
			`"tcp_flags":24,"length":80,"path":"` + nodePath(1, 2) + `","hop_count":2,"hops":[{"node_id":1,"queue":2,"occupancy":17},{"node_id":2,"queue":1,"occupancy":34}],"sink":{"queue":3,"occupancy":68}`},
		{"transparent_security", tracked + `,"flow":"udp:192.168.1.1:56789-192.168.2.2:80","source":"192.168.1.1","destination":"192.168.2.2","source_port":56789,"destination_port":80,` +
			`"protocol":17,"dscp":0,"ecn":0,"length":86,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","device_id":"a61af6b1647d0000",` +
			`"path":"` + nodePath(123) + `","hop_count":1,"hops":[{"node_id":123}],"source_metadata":"a61af6b1647d0000"`},
		{"int_vxlan", tracked + `,"flow":"udp:192.168.1.1:56789-192.168.2.2:4789","source":"192.168.1.1","destination":"192.168.2.2","source_port":56789,"destination_port":4789,` +
			`"protocol":17,"dscp":0,"ecn":0,"length":130,"vni":123,"inner":{` + `"flow":"tcp:10.10.1.1:40000-10.10.2.2:80","source":"10.10.1.1","destination":"10.10.2.2","source_port":40000,"destination_port":80,"protocol":6,"dscp":0` + `},"path":"PATH","hop_count":3,` +
			`"hops":[{"node_id":1,"ingress":1,"egress":2},{"node_id":2,"ingress":3,"egress":4},{"node_id":3,"ingress":5,"egress":6}]`},
		{"1.0_ethernet", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","sink":{` + stamp + `}`},
		{"1.0_int", tracked + `,"flow":"tcp:10.0.0.1:40000-10.0.0.2:80","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":80,"protocol":6,"dscp":23,"ecn":0,` +
			`"tcp_flags":24,"length":80,"path":"` + nodePath(1, 2) + `","hop_count":2,"hops":[{"node_id":1,"queue":2,"occupancy":17},{"node_id":2,"queue":1,"occupancy":34}],"sink":{"ingress":1,"egress":2,"latency_ns":100,` + stamps + `}`},
		{"1.0_every_bit", `"events":["congestion","drop"],"dropped":true,"congested":true,"tracked":false,"drop_reason":60,"drop_reason_name":"acl_deny",` + tcpFlow +
			`,"tcp_flags":24,"length":40,"sink":{"ingress":1,"egress":2,"latency_ns":100,"queue":3,"occupancy":68,` + stamps + `,"tx_utilization":50}`},
		{"0.5_ethernet", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","sink":{` + stamp + `}`},
		{"0.5_switch_local", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02",` +
			`"sink":{"ingress":1,"egress":2,"latency_ns":1000,"queue":3,"occupancy":68,` + stamps + `}`},
		{"0.5_no_queue", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","sink":{"latency_ns":1000,` + stamps + `}`},
		{"0.5_drop", `"events":["drop"],"dropped":true,"congested":false,"tracked":false,"drop_reason":60,"drop_reason_name":"acl_deny",` + tcpFlow +
			`,"tcp_flags":24,"length":40,"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","sink":{"ingress":1,"egress":2,"queue":3,` + stamp + `}`},
		{"0.5_ip", tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40,"sink":{` + stamp + `}`},
	} {
		t.Run(c.file, func(t *testing.T) {
			got, err := lines(t, NewDecoder(Options{}), reporttest.Wire(t, c.file))
			path := inthdr.StartOfPath.Via(1, 1, 2, 0).Via(2, 3, 4, 0).Via(3, 5, 6, 0)
			want := strings.Replace(c.want, "PATH", string(appendHex64(nil, uint64(path))), 1)
			if err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%v\n%s, want\n%s", err, strings.Join(got, "\n"), want)
			}
		})
	}
}

// TestIdentity checks the fields that every record begins with.
func TestIdentity(t *testing.T) {
	for _, c := range []struct{ name, wire, want string }{
		{"2.0", ip(t, ipHex), `{"v":1,"type":"report","id":"3-5-187a30ed575c0000-7-0","time":"2025-11-22T02:00:01.000000000Z","received":"2025-11-22T02:00:01.000000000Z",` +
			`"exporter":"192.0.2.7","node_id":3,"hw_id":5,"version":2,"sequence":7,"index":0,`},
		{"egress timestamp", groupHex + `10 04 02 00 0400 0000 0000 0000 187a31a79b134000`, `"time":"2025-11-22T02:00:00.000000000Z","received":"2025-11-22T02:00:01.000000000Z"`},
		{"egress timestamp of another clock", groupHex + `10 04 02 00 0400 0000 0000 0000 00000000075bcd15`, `"time":"2025-11-22T02:00:01.000000000Z","received"`},
		{"1.0", hex.EncodeToString(reporttest.Wire(t, "1.0_ethernet")), `"id":"9-5-187a30ed575c0000-7-0"`},
		{"0.5 without a node", hex.EncodeToString(reporttest.Wire(t, "0.5_ethernet")), `"id":"-5-187a30ed575c0000-7-0","time":"2025-11-22T02:00:01.000000000Z","received":"2025-11-22T02:00:01.000000000Z","exporter":"192.0.2.7","hw_id":5,"version":0.5`},
		{"0.5 with a node", hex.EncodeToString(reporttest.Wire(t, "0.5_drop")), `"node_id":9,"hw_id":5,"version":0.5`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			_, err := NewDecoder(Options{}).Records(reporttest.Hex(t, c.wire), &testOrigin, func(r *Record) { got = string(AppendJSON(nil, r)) })
			if err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%v\n%s, want\n%s", err, got, c.want)
			}
		})
	}
}

// md returns an INT-MD header with the given hop length in words and bitmap, and the stack.
func md(words, bitmap, stack string) string {
	return `2000` + words + `06` + bitmap + `0000 0000 0000` + stack
}

func TestHops(t *testing.T) {
	const addresses = `"source":"10.0.0.1","destination":"10.0.0.2"`
	flow := func(port string) string {
		return tracked + `,"flow":"udp:10.0.0.1:40000-10.0.0.2:` + port + `",` + addresses + `,"source_port":40000,"destination_port":` + port + `,"protocol":17,"dscp":0,"ecn":0,"length":`
	}
	// Node id, ports, latency, queue, both timestamps, level 2 ports, utilization.
	every := func(node, in, out string) string {
		return node + `00010002 00000064 03000044` + in + out + `00000005 00000006 00000032`
	}
	twoHops := udp4(t, 5000, `14 19 0035`+md("0b", "ff00",
		every("00000002", "187a31a79b1341b8", "187a31a79b13421c")+every("00000001", "187a31a79b134000", "187a31a79b134064"))+`aa`)
	full := func(node, in, out string) string {
		return `{"node_id":` + node + `,"ingress":1,"egress":2,"ingress2":5,"egress2":6,"latency_ns":100,"queue":3,"occupancy":68,"ingress_time":"2025-11-22T02:00:00.000000` + in + `Z","egress_time":"2025-11-22T02:00:00.000000` + out + `Z","tx_utilization":50}`
	}
	path := func(id inthdr.PathID) string { return string(appendHex64(nil, uint64(id))) }
	level2 := uint64(5)<<32 | 6
	for _, c := range []struct {
		name, packet, want string
	}{
		{"everything, two hops", twoHops, flow("53") + `133,"path":"` + path(inthdr.StartOfPath.Via(1, 1, 2, level2).Via(2, 1, 2, level2)) + `","hop_count":2,"hops":[` +
			full("1", "000", "100") + `,` + full("2", "440", "540") + `],"latency_ns":200,"links":[{"from":1,"to":2,"latency_ns":340}],"max_hop":1`},
		{"nothing is known", udp4(t, 5000, `14 0e 0035`+md("0b", "ff00", strings.Repeat("ff", 44))), flow("53") + `88,"hop_count":1,"hops":[{}]`},
		{"one port is not known: no path", udp4(t, 5000, `14 06 0035`+md("03", "e000", "00000001 0001ffff 00000064")),
			flow("53") + `56,"hop_count":1,"hops":[{"node_id":1,"ingress":1,"latency_ns":100}],"latency_ns":100,"max_hop":1`},
		{"queue 255, occupancy not known", udp4(t, 5000, `14 05 0035`+md("02", "9000", "00000001 ffffff00")), flow("53") + `52,"path":"` + nodePath(1) + `","hop_count":1,"hops":[{"node_id":1,"queue":255,"occupancy":16776960}]`},
		{"a latency is not known", udp4(t, 5000, `14 07 0035`+md("02", "a000", "00000002 ffffffff 00000001 00000064")),
			flow("53") + `60,"path":"` + nodePath(1, 2) + `","hop_count":2,"hops":[{"node_id":1,"latency_ns":100},{"node_id":2}],"max_hop":1`},
		{"hop limit", udp4(t, 5000, strings.Replace(`14 05 0035`+md("02", "a000", "00000001 00000064"), "2000", "2400", 1)),
			flow("53") + `52,"path":"` + nodePath(1) + `","hop_count":1,"hops":[{"node_id":1,"latency_ns":100}],"max_hop":1,"flags":["hop_limit"]`},
		{"MTU exceeded: no path", udp4(t, 5000, strings.Replace(`14 06 0035`+md("03", "e000", "00000001 00010002 00000064"), "2000", "2200", 1)),
			flow("53") + `56,"hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"latency_ns":100}],"max_hop":1,"flags":["mtu_exceeded"]`},
		{"a clock that is behind: no link", udp4(t, 5000, `14 0d 0035`+md("05", "8c00", "00000002 187a31a79b133600 187a31a79b133601 00000001 187a31a79b134000 187a31a79b134064")),
			flow("53") + `84,"path":"` + nodePath(1, 2) + `","hop_count":2,"hops":[{"node_id":1,"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"},` +
				`{"node_id":2,"ingress_time":"2025-11-22T01:59:59.999997440Z","egress_time":"2025-11-22T01:59:59.999997441Z"}]`},
		{"times after 2262, which no store takes", udp4(t, 5000, `14 08 0035`+md("05", "8c00", "00000002 8000000000000000 7fffffffffffffff")),
			flow("53") + `64,"path":"` + nodePath(2) + `","hop_count":1,"hops":[{"node_id":2,"egress_time":"2262-04-11T23:47:16.854775807Z"}]`},
		{"lengths that do not agree", udp4(t, 5000, `14 06 0035`+md("03", "c000", "00000001 00010002 00000064")), flow("53") + `56,"source_metadata":"000000010001000200000064","flags":["malformed"],"int_problem":"hop_ml"`},
		{"a type that is none", udp4(t, 5000, `44 06 0035`+md("03", "c000", "00000001 00010002 00000064")), flow("5000") + `56,"flags":["malformed"],"int_problem":"type"`},
		{"an unknown domain", udp4(t, 5000, `14 05 0035 2000 0206 c000 0007 8000 0000 00000001 00010002`), flow("53") + `52,"source_metadata":"0000000100010002","int_problem":"unknown_domain"`},
		{"Destination", udp4(t, 5000, `24 01 0035 deadbeef`), flow("53") + `36,"source_metadata":"deadbeef","int_type":"destination"`},
		{"GRE", `4500 0040 0001 4000 40 2f 0000 0a000001 0a000002 0000 88b6 10 06 0800` + md("03", "e000", "00000001 00010002 00000064") + `00000000 00000000`,
			tracked + `,"flow":"gre:10.0.0.1-10.0.0.2",` + addresses + `,"protocol":47,"dscp":0,"ecn":0,"length":64,"path":"` + path(inthdr.StartOfPath.Via(1, 1, 2, 0)) + `","hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"latency_ns":100}],"latency_ns":100,"max_hop":1`},
		{"GRE made for INT: the flow is what is in it", `4500 0058 0001 4000 40 2f 0000 0a000008 0a000009 0000 88b6 18 06 0800` + md("03", "e000", "00000001 00010002 00000064") +
			udp4(t, 53, `0000 0000`),
			flow("53") + `32,"outer":{"flow":"gre:10.0.0.8-10.0.0.9","source":"10.0.0.8","destination":"10.0.0.9","protocol":47,"dscp":0},"path":"` + path(inthdr.StartOfPath.Via(1, 1, 2, 0)) + `","hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"latency_ns":100}],"latency_ns":100,"max_hop":1`},
		{"INT inside of VXLAN: the flow is the inner one", strings.Replace(udp4(t, 4789, `08000000 00000700`+etherHex+udp4(t, 5000, `14 06 0035`+md("03", "e000", "00000001 00010002 00000064"))), "0a0000010a000002", "0a0000080a000009", 1),
			flow("53") + `56,"vni":7,"outer":{"flow":"udp:10.0.0.8:40000-10.0.0.9:4789","source":"10.0.0.8","destination":"10.0.0.9","source_port":40000,"destination_port":4789,"protocol":17,"dscp":0},"path":"` + path(inthdr.StartOfPath.Via(1, 1, 2, 0)) + `","hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"latency_ns":100}],"latency_ns":100,"max_hop":1`},
		{"Geneve", udp4(t, 6081, `07 00 6558 00000700 0103 01 06`+md("03", "e000", "00000001 00010002 00000064")+etherHex),
			flow("6081") + `78,"vni":7,"path":"` + path(inthdr.StartOfPath.Via(1, 1, 2, 0)) + `","hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"latency_ns":100}],"latency_ns":100,"max_hop":1`},
		{"June 2016 in VXLAN-GPE", udp4(t, 4790, `0c000005 00000700 01000903 00030902 d000 0000 00000001 00000002 80000044 00000003 00000004 8000007f`),
			flow("4790") + `72,"vni":7,"path":"` + fmt.Sprintf("%016x", uint64(inthdr.StartOfPath.Via(3, 4, 0xffff, 0).Via(1, 2, 0xffff, 0))) + `","hop_count":2,"hops":[{"node_id":3,"ingress":4,"occupancy":127},{"node_id":1,"ingress":2,"occupancy":68}]`},
		{"INT 1.0 with 32-bit timestamps", udp4(t, 4790, `0c000008 00000700 01000600 1000 0303 8c00 0000 00000001 9b134000 9b134064`),
			flow("4790") + `60,"vni":7,"path":"` + nodePath(1) + `","hop_count":1,"hops":[{"node_id":1,"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"}]`},
		{"no INT", ipHex, tracked + `,` + tcpFlow + `,"tcp_flags":24,"length":40`},
		{"later fragment", `4500 001c 0001 0001 40 11 0000 0a000001 0a000002 9c40 1388 0008 0000`, tracked + `,` + addresses + `,"protocol":17,"dscp":0,"ecn":0,"length":28`},
		{"a length that is none", strings.Replace(ipHex, "0028", "0000", 1), tracked + `,` + addresses + `,"protocol":6,"dscp":0,"ecn":0,"length":0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, ip(t, c.packet)))
			if err != nil || len(got) != 1 || got[0] != c.want {
				t.Errorf("%v\n%s, want\n%s", err, strings.Join(got, "\n"), c.want)
			}
		})
	}
}

// TestNodeModels: latencies and timestamps follow the units and clocks of the node models.
func TestNodeModels(t *testing.T) {
	only := func(n uint32) []event.NodeRange { return []event.NodeRange{{First: n, Last: n}} }
	d := NewDecoder(Options{Models: []event.NodeModel{
		{Nodes: only(1), LatencyUnit: 1000, QueueUnit: 80, TimestampBits: 48, TimestampUnit: 1, Unix: true},
		{Nodes: only(2), TimestampBits: 48, TimestampUnit: 1},
	}})
	packet := udp4(t, 5000, `14 11 0035`+md("07", "bc00", "00000002 00000005 00000001 0000000000000064 00000000000000c8 00000001 00000005 00000001 000031a79b134000 000031a79b134064"))
	got, err := lines(t, d, reporttest.Hex(t, ip(t, packet)))
	want := `"hops":[{"node_id":1,"latency_ns":5000,"queue":0,"occupancy":80,"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"},` +
		`{"node_id":2,"latency_ns":5,"queue":0,"occupancy":1}],"latency_ns":5005,`
	if err != nil || !strings.Contains(got[0], want) {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
}

// TestConfigured: INT is found by the configured marking, here of INT 1.0 as GEANT's programs
// write it.
func TestConfigured(t *testing.T) {
	d := NewDecoder(Options{INT: []inthdr.Config{{DSCP: []inthdr.DSCP{{Value: 32, Mask: 63}}, Version1: true, GEANT: true}}})
	packet := strings.Replace(udp4(t, 53, `01 00 0a 20 10000707 ce00 0000 00000001 00010002 187a31a79b134000 187a31a79b134064 00030004`), "4500", "4580", 1)
	got, err := lines(t, d, reporttest.Hex(t, ip(t, packet)))
	path := inthdr.StartOfPath.Via(1, 1, 2, 3<<16|4)
	want := `"dscp":8,"ecn":0,"length":68,"path":"` + string(appendHex64(nil, uint64(path))) + `","hop_count":1,"hops":[{"node_id":1,"ingress":1,"egress":2,"ingress2":3,"egress2":4,` +
		`"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"}]`
	if err != nil || !strings.HasSuffix(got[0], want) {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if got, _ := lines(t, d, reporttest.Hex(t, ip(t, udp4(t, 5000, `14 05 0035`+md("02", "c000", "00000001 00010002"))))); strings.Contains(got[0], "hop") {
		t.Errorf("a port that is not configured: %s", got)
	}
}

// TestLayoutsOfINT10: the decoder reads hops of INT 1.0 by the layout of the INT 1.0 document if Hop ML fits that,
// else by the layout of GEANT's programs. int1_dialect matters only where Hop ML fits both.
func TestLayoutsOfINT10(t *testing.T) {
	const (
		exact = `01000920 10000607 cc000000 00000001 00010002 187a31a79b134000 187a31a79b134064`
		both  = `01000720 10000407 8a000000 00000001 9b134000 00000005 00000006`
		none  = `01000720 10000407 c0000000 00000001 00010002 00000005 00000006`
		first = `"hop_count":1,"hops":[{"node_id":1,`
	)
	for _, c := range []struct {
		name, shim string
		geant      bool
		want       string
	}{
		{"GEANT's", exact, false, first + `"ingress":1,"egress":2,"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"}]`},
		{"GEANT's, as configured", exact, true, first + `"ingress":1,"egress":2,"ingress_time":"2025-11-22T02:00:00.000000000Z","egress_time":"2025-11-22T02:00:00.000000100Z"}]`},
		{"as long by both", both, false, first + `"ingress2":5,"egress2":6,"ingress_time":"2025-11-22T02:00:00.000000000Z"}]`},
		{"as long by both, GEANT's as configured", both, true, first + `"ingress2":0,"egress2":6}]`},
		{"another length", none, false, `"length":56,"source_metadata":"00000001000100020000000500000006","flags":["malformed"],"int_problem":"hop_ml"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := DefaultINT()[0]
			config.DSCP, config.GEANT = []inthdr.DSCP{{Value: 32, Mask: 63}}, c.geant
			packet := strings.Replace(udp4(t, 53, c.shim), "4500", "4580", 1)
			got, err := lines(t, NewDecoder(Options{INT: []inthdr.Config{config}}), reporttest.Hex(t, ip(t, packet)))
			if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], c.want) {
				t.Errorf("%v\n%s, want\n%s", err, got, c.want)
			}
		})
	}
	got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, ip(t, udp4(t, 4790, `0c000008 00000700 01000900 `+exact[9:]))))
	if err != nil || len(got) != 1 || !strings.Contains(got[0], first+`"ingress":1,"egress":2,"ingress_time":"2025-11-22T02:00:00.000000000Z"`) {
		t.Errorf("in VXLAN-GPE: %v\n%s", err, got)
	}
}

// TestCut: of a packet that is cut in its stack, the record has the whole hops, and no value
// that the missing hops would be needed for.
func TestCut(t *testing.T) {
	packet := reporttest.Hex(t, udp4(t, 5000, `14 0c 0035`+md("03", "e000", "00000003 00050006 00000003 00000002 00030004 00000002 00000001 00010002 00000001")))
	const stack = 28 + 16
	d := NewDecoder(Options{})
	var r Record
	for n := range len(packet) + 1 {
		b := append(reporttest.Hex(t, groupHex+`04 ff 00 20`), packet[:n]...)
		count, err := d.Records(b, &testOrigin, func(x *Record) { r = *x })
		if count != 1 || (err == nil) != (n >= 255*4) {
			t.Fatalf("%d bytes: %d records, %v", n, count, err)
		}
		if want := min(max(n-stack, 0)/12, 3); len(r.Hops) != want {
			t.Errorf("%d bytes: %d hops, want %d", n, len(r.Hops), want)
		}
		if got, want := r.Flags&Truncated != 0, n >= 24 && n < len(packet); got != want {
			t.Errorf("%d bytes: truncated %v", n, got)
		}
		if whole := n == len(packet); r.Has(KnownPath) != whole || r.Has(KnownLatency) != whole || r.Has(KnownMaxHop) != whole {
			t.Errorf("%d bytes: known %b", n, r.Known)
		}
		if r.Has(KnownAddresses) != (n >= 20) || r.Has(KnownPorts) != (n >= 24) {
			t.Errorf("%d bytes: known %b", n, r.Known)
		}
		if n >= stack && (!r.Has(KnownHopCount) || r.HopCount != 3) {
			t.Errorf("%d bytes: hop count %d", n, r.HopCount)
		}
	}
}

// TestCutInFrontOfTheOriginalHeader: INT whose NPT is 2 is read as far as it is there, though the header that it restores is
// not: a report that is cut behind INT names the original flow's protocol, and all hops.
func TestCutInFrontOfTheOriginalHeader(t *testing.T) {
	packet := reporttest.Hex(t, reporttest.INTTCPHex)
	const stack = 28 + 16 // and 16 bytes of two hops
	d := NewDecoder(Options{})
	var r Record
	for n := stack; n <= len(packet); n++ {
		b := append(reporttest.Hex(t, groupHex+`04 ff 00 20`), packet[:n]...)
		d.Records(b, &testOrigin, func(x *Record) { r = *x })
		if want := min((n-stack)/8, 2); len(r.Hops) != want || r.HopCount != 2 || r.Protocol != 6 {
			t.Errorf("%d bytes: %d hops of %d, protocol %d; want %d hops of 2, 6", n, len(r.Hops), r.HopCount, r.Protocol, want)
		}
		if ports := n >= stack+16+4; r.Has(KnownPorts) != ports || ports && (r.SourcePort != 40000 || r.DestinationPort != 80) {
			t.Errorf("%d bytes: ports %v, %d and %d", n, r.Has(KnownPorts), r.SourcePort, r.DestinationPort)
		}
		if cut := n < len(packet); cut && n < stack+16 && r.Flags&Truncated == 0 {
			t.Errorf("%d bytes: not truncated", n)
		}
	}
}

// TestPaddingIsNoOriginalHeader: zeros behind a packet that is cut are not taken for the length of
// the header that NPT 2 restores.
func TestPaddingIsNoOriginalHeader(t *testing.T) {
	behind := map[string]string{"11": `000d0000 0108` + strings.Repeat("00", 258), "06": `9c400050 00000001 00000002 50180200 12340000`}
	for protocol, cut := range map[string]int{"11": 5, "06": 11} {
		packet := reporttest.Hex(t, udp4(t, 5000, `18 05 00`+protocol+md("01", "8000", "00000002 00000001")+behind[protocol]))
		got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, ip(t, hex.EncodeToString(packet[:28+4+12+8+cut]))))
		if err != nil || !strings.HasSuffix(got[0], `"hop_count":2,"hops":[{"node_id":1},{"node_id":2}]`) {
			t.Errorf("protocol %s: %v\n%s", protocol, err, got)
		}
	}
}

// TestLaterFragmentInATunnel: bytes behind the IP header of a later fragment are no ports, wherever the fragment is.
func TestLaterFragmentInATunnel(t *testing.T) {
	got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, groupHex+`04150020 4500005400014000402f00000a0000080a000009 000088b6 18060800
		20000306e000000000000000 000000010001000200000064 4500002000010001401100000a0000010a000002 deadbeef0102030405060708`))
	if err != nil || !strings.Contains(got[0], `"source":"10.0.0.1","destination":"10.0.0.2","protocol":17`) || strings.Contains(got[0], "port") {
		t.Errorf("%v %s", err, got)
	}
}

// TestFirstFragmentOfATunnel: a record takes nothing out, so that INT in a first fragment of a tunnel that the source made is read.
func TestFirstFragmentOfATunnel(t *testing.T) {
	got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, groupHex+`04150020 4500005400012000402f00000a0000080a000009 000088b6 18060800
		20000306e000000000000000 000000010001000200000064 4500002000010000401100000a0000010a000002 111100350010000001020304`))
	if err != nil || !strings.Contains(got[0], `"hops":[{"node_id":1,`) || !strings.Contains(got[0], `"source_port":4369,"destination_port":53`) || strings.Contains(got[0], "malformed") {
		t.Errorf("%v %s", err, got)
	}
}

// TestDomainOfTransparentSecurity: it is known however INT is configured.
func TestDomainOfTransparentSecurity(t *testing.T) {
	port := uint16(5000)
	d := NewDecoder(Options{INT: []inthdr.Config{{UDPPort: &port, Version2: true}}})
	got, err := lines(t, d, reporttest.Hex(t, ip(t, udp4(t, 5000, `14 06 0035 2000 0109 8000 5453 8000 4000 0000007b 000000000101 0000`))))
	if err != nil || !strings.Contains(got[0], `"device_id":"0000000001010000"`) || !strings.Contains(got[0], `"hops":[{"node_id":123}]`) {
		t.Errorf("%v %s", err, got)
	}
}

// TestModelOfTheReportingNode: values that a node tells of itself are in the units of a model that lists it; not in those of
// a model for all others, since sinks report nanoseconds.
func TestModelOfTheReportingNode(t *testing.T) {
	only := func(n uint32) []event.NodeRange { return []event.NodeRange{{First: n, Last: n}} }
	postcard := reporttest.Hex(t, groupHex+`10060400 3180000000000000 00000005 03000044 00000032 01000010`)
	for _, c := range []struct {
		name   string
		models []event.NodeModel
		want   Sink
	}{
		{"none", nil, Sink{LatencyNs: 5, Occupancy: 68, TxUtilization: 50, BufferOccupancy: 16}},
		{"of the node", []event.NodeModel{{Nodes: only(3), LatencyUnit: 1000, QueueUnit: 80, BufferUnit: 4, TxFull: 200}},
			Sink{LatencyNs: 5000, Occupancy: 5440, TxUtilization: 25, BufferOccupancy: 64}},
		{"of another node and of all others", []event.NodeModel{{Nodes: only(4), LatencyUnit: 7}, {LatencyUnit: 1000, QueueUnit: 80}}, Sink{LatencyNs: 5, Occupancy: 68, TxUtilization: 50, BufferOccupancy: 16}},
		{"of all others", []event.NodeModel{{LatencyUnit: 1000, QueueUnit: 80, TxFull: 10}}, Sink{LatencyNs: 5, Occupancy: 68, TxUtilization: 50, BufferOccupancy: 16}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Sink
			NewDecoder(Options{Models: []event.NodeModel{{Nodes: only(3), LatencyUnit: 9}}, Reporters: c.models}).Records(postcard, &testOrigin, func(r *Record) { got = r.Sink })
			if got.LatencyNs != c.want.LatencyNs || got.Occupancy != c.want.Occupancy || got.TxUtilization != c.want.TxUtilization || got.BufferOccupancy != c.want.BufferOccupancy || got.Queue != 3 {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSeveralReports: a malformed report does not hide the next one in its packet.
func TestSeveralReports(t *testing.T) {
	d := NewDecoder(Options{})
	explanation := report.Explanation{Events: 1<<3 | 1<<6, Suppressed: 1, Packets: 2, Bytes: 3, Lost: 4, Drops: 5, Trigger: report.Trigger{NodeID: 6, Reference: 1<<32 - 1, Value: 8}}
	var p report.Packet
	p.Open(make([]byte, 1400))
	r := report.Individual{InType: report.IPv4, Inner: reporttest.Hex(t, ipHex)}
	r.Explain(&explanation, make([]byte, 200))
	p.Append(&r)
	b := p.Seal(report.GroupHeader{})
	b = append(b, reporttest.Hex(t, `10 01 00 80 00000000  00 01 00 40 00000000  70 01 00 00 00000000 04 02 00 00 60000000 00000000`)...)
	got, err := lines(t, d, b)
	want := []string{
		`"events":["hop_latency","congestion"],` + noFlags + `,"suppressed":1,"lost":4,"drops":5,"flow_packets":2,"flow_bytes":3,"event_node":6,"value":8,` + tcpFlow + `,"tcp_flags":24,"length":40`,
		`"events":["drop"],"dropped":true,"congested":false,"tracked":false,"flags":["malformed"]`,
		`"events":["congestion"],"dropped":false,"congested":true,"tracked":false,"flags":["malformed"],"data":"00000000"`,
		noFlags + `,"data":"00000000"`,
		noFlags + `,"flags":["malformed"]`,
	}
	if !errors.Is(err, ErrLengths) || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s, want\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, bad := range []string{groupHex, groupHex + `0400`} {
		if n, err := d.Records(reporttest.Hex(t, bad), &testOrigin, func(*Record) {}); n != 0 || !errors.Is(err, decode.ErrTruncated) {
			t.Errorf("%s: %d records, %v", bad, n, err)
		}
	}
}

// TestEpisodesOfAReport: they are read from TLVs behind the explanation, whole ones, and at most as many as mostEpisodes;
// the packet behind them is found. What is no episode is a TLV.
func TestEpisodesOfAReport(t *testing.T) {
	e := episode(1).Episode
	for _, c := range []struct {
		name       string
		n, episode int
		bad        bool
	}{{"none", 0, 0, false}, {"one", 1, 1, false}, {"two", 2, 2, false}, {"forged", 50, mostEpisodes, false}, {"cut", 1, 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			var p report.Packet
			p.Open(make([]byte, 1<<15))
			r := report.Individual{InType: report.IPv4, Inner: reporttest.Hex(t, ipHex)}
			r.Explain(&report.Explanation{Events: 1 << 6}, make([]byte, 1<<15), slices.Repeat([]report.Episode{e}, c.n)...)
			if c.bad {
				r.Inner[4+report.ExplanationLen+4+11] = 0xff
			}
			p.Append(&r)
			got := recordsOf(t, p.Seal(report.GroupHeader{}))
			if len(got) != 1 || len(got[0].Episodes) != c.episode || len(got[0].TLVs) != c.n-c.episode || got[0].SourcePort == 0 {
				t.Fatalf("%+v", got)
			}
			for _, one := range got[0].Episodes {
				if one.Episode != e || one.Sinks != 1 {
					t.Errorf("%+v", one)
				}
			}
		})
	}
}

// recordsOf returns copies of the records of a report packet.
func recordsOf(t *testing.T, packet []byte) (all []Record) {
	t.Helper()
	_, err := NewDecoder(Options{}).Records(packet, &testOrigin, func(r *Record) {
		one := *r
		one.Episodes, one.TLVs = slices.Clone(r.Episodes), slices.Clone(r.TLVs)
		all = append(all, one)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTransparentSecurityCode(t *testing.T) {
	for _, c := range []struct{ name, wire, want string }{
		{"packet", `20000040 000000ea 04 0a 08 00 0000 5453 0000 0000 00000000` + etherHex + `4500 0044 0001 4000 3d 11 0000 c0a80101 c0a80202 0000 022b 0030 0000 18 08 00 11
			2000 0109 8000 5453 8000 4000 000000ea 0000007b 000000000101 0000 1a18 16a0 0008 0000`,
			noFlags + `,"flow":"udp:192.168.1.1:6680-192.168.2.2:5792","source":"192.168.1.1","destination":"192.168.2.2","source_port":6680,"destination_port":5792,"protocol":17,"dscp":0,"ecn":0,"length":68,` +
				`"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","device_id":"0000000001010000","path":"` + nodePath(123, 234) + `","hop_count":2,"hops":[{"node_id":123},{"node_id":234}],"source_metadata":"0000000001010000","ds_metadata":"00000000"`},
		{"drop", `20000000 0000007b 02 09 07 00 0001 5453 0000 0000 000f0000 60d36e49 00000005 6b00dbfc6026a3526b00dbfc6026a352 1bbe 0f5d 0017 0000 7470732064726f70207265706f7274`,
			`"events":["drop"],` + noFlags + `,"drops":5,"data":"60d36e49000000056b00dbfc6026a3526b00dbfc6026a3521bbe0f5d001700007470732064726f70207265706f7274"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, inclusive := range []bool{false, true} { // Length is corrected, whatever other sources write
				entries := DefaultINT()
				for i := range entries {
					entries[i].ShimInclusive = inclusive
				}
				got, err := lines(t, NewDecoder(Options{INT: entries}), reporttest.Hex(t, c.wire))
				if err != nil || len(got) != 1 || got[0] != c.want {
					t.Errorf("inclusive %v: %v\n%s, want\n%s", inclusive, err, got, c.want)
				}
			}
		})
	}
}

func TestDecoderAllocatesNothing(t *testing.T) {
	d, b := NewDecoder(Options{}), make([]byte, 0, 1<<14)
	encode := func(r *Record) { b = AppendJSON(b[:0], r) }
	for _, file := range []string{"int_vxlan", "int_tcp", "transparent_security", "domain_specific", "1.0_int", "0.5_drop"} {
		packet := reporttest.Wire(t, file)
		if n := testing.AllocsPerRun(100, func() { d.Records(packet, &testOrigin, encode) }); n != 0 {
			t.Errorf("%s: %v allocations a packet", file, n)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	d, packet, buf := NewDecoder(Options{}), reporttest.Wire(b, "int_vxlan"), make([]byte, 0, 1<<14)
	for name, yield := range map[string]func(*Record){
		"decode":          func(*Record) {},
		"decode+json":     func(r *Record) { buf = AppendJSON(buf[:0], r) },
		"decode+protobuf": func(r *Record) { buf = AppendProto(buf[:0], r) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Records(packet, &testOrigin, yield)
			}
		})
	}
}

// nodePath is the id of a path whose nodes alone are known.
func nodePath(nodes ...uint32) string {
	id := inthdr.StartOfPath
	for _, n := range nodes {
		id = id.Via(n, 0xffff, 0xffff, 0)
	}
	return fmt.Sprintf("%016x", uint64(id))
}

// TestECN: a record has the ECN field that the packet came with; of a tunnel that goes with INT, its mark.
func TestECN(t *testing.T) {
	const stack = "00000001 00010002 00000064"
	gre := func(outer, inner string) string {
		return `45` + outer + ` 0058 0001 4000 40 2f 0000 0a000008 0a000009 0000 88b6 18 06 0800` + md("03", "e000", stack) + strings.Replace(udp4(t, 53, `0000 0000`), "4500", "45"+inner, 1)
	}
	for name, c := range map[string]struct {
		packet string
		want   uint8
	}{
		"none":                     {udp4(t, 53, ``), 0},
		"marked, with a DSCP":      {strings.Replace(udp4(t, 53, ``), "4500", "45bb", 1), 3},
		"marked, with INT":         {strings.Replace(udp4(t, 5000, `14 06 0035`+md("03", "e000", stack)), "4500", "4503", 1), 3},
		"ECT(0) in IPv6":           {`6020 0000 0008 11 40` + strings.Repeat("20010db8000000000000000000000001", 2) + `9c40 0035 0008 0000`, 2},
		"in a tunnel":              {gre("00", "02"), 2},
		"a tunnel that was marked": {gre("03", "02"), 3},
		"what cannot be marked":    {gre("03", "00"), 0},
		"marked before the tunnel": {gre("01", "03"), 3},
	} {
		inType := "04"
		if strings.HasPrefix(c.packet, "6") {
			inType = "05"
		}
		b := reporttest.Hex(t, strings.Replace(ip(t, c.packet), groupHex+"04", groupHex+inType, 1))
		if all := recordsOf(t, b); len(all) != 1 || !all[0].Has(KnownAddresses) || all[0].ECN != c.want {
			t.Errorf("%s: %d records, want one with ECN %d: %+v", name, len(all), c.want, all)
		}
	}
}
