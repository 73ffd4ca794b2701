package decode

import (
	"encoding/hex"
	"strings"
	"testing"

	"intsink/engine/report"
	"intsink/engine/report/reporttest"
)

var group = report.GroupHeader{HwID: 5, Sequence: 7, NodeID: 3}

// golden are the examples of Telemetry Report 2.0, section "Examples of Telemetry
// Reports", and one of a profile.
var golden = []struct {
	name, file string
	want       []string // in the JSON of the decoded report
}{
	{"baseline metadata and truncated IPv4", "baseline", []string{
		`"rep_type":1,"in_type":4,"report_length":14,"md_length":2,"dropped":false,"congested_queue":false,"tracked_flow":true,"intermediate":false`,
		`"rep_md_bits":20480,"domain_specific_id":0,"ds_md_bits":0,"ds_md_status":0`,
		`"metadata":{"ingress_interface_id":1,"egress_interface_id":2,"queue_id":3,"queue_occupancy":68}`,
		`"inner":{"type":"ipv4","length":40,"flow":{"source":"10.0.0.1","destination":"10.0.0.2","length":40,"dscp":0,"protocol":6,"source_port":40000,"destination_port":80,"tcp_flags":24}}`,
	}},
	{"domain specific metadata, extension data and truncated IPv4", "domain_specific", []string{
		`"ds_metadata":"cafebabe"`,
		`"inner":{"type":"tlv","length":52,"flow":{"source":"10.0.0.1",`,
		`"tlvs":[{"type":"ds_extension","length":4,"template":66,"data":"deadbeef"},{"type":"ipv4","length":40}]`,
	}},
	{"embedded INT-MD in a TCP packet", "int_tcp", []string{
		`"report_length":23`,
		`"protocol":6,"source_port":40000,"destination_port":80`,
		`"int":{"type":"md","shim_length":7,"npt":2,"ver":2,"discard":false,"max_hop_count_exceeded":false,"mtu_exceeded":false,` +
			`"hop_ml":2,"remaining_hop_count":6,"instruction_bitmap":36864,"domain_specific_id":0,"ds_instruction":0,"ds_flags":0,` +
			`"hops":[{"node_id":2,"queue_id":1,"queue_occupancy":34},{"node_id":1,"queue_id":2,"queue_occupancy":17}]}`,
	}},
	{"Transparent Security: its domain and an Ethernet frame, nothing else", "transparent_security", []string{
		`"rep_type":1,"in_type":3,"report_length":27,"md_length":0`,
		`"rep_md_bits":0,"domain_specific_id":21587,"ds_md_bits":0,"ds_md_status":0,"metadata":{}`,
		`"source_mac":"02:00:00:00:00:01"`,
		`"hops":[{"node_id":123}],"source_metadata":"a61af6b1647d0000"`,
	}},
	{"embedded INT-MD over UDP in a VXLAN packet", "int_vxlan", []string{
		`"rep_type":0,"in_type":4,"report_length":33,"md_length":0`,
		`"source":"192.168.1.1","destination":"192.168.2.2"`,
		`"protocol":17,"source_port":56789,"destination_port":4789`,
		`"hops":[{"node_id":3,"ingress_interface_id":5,"egress_interface_id":6},` +
			`{"node_id":2,"ingress_interface_id":3,"egress_interface_id":4},` +
			`{"node_id":1,"ingress_interface_id":1,"egress_interface_id":2}]`,
	}},
}

// goldenOld are written by hand from the documents: Telemetry Report 1.0,
// section 3.2, and 0.5, sections 3.2.1 to 3.2.3. The packet in them is the last inner bytes.
var goldenOld = []struct {
	name, file string
	want       []string
}{
	{"1.0: Ethernet, nothing of its own", "1.0_ethernet", []string{`"in_type":3,"next_protocol":0,"header_length":4`, `"rep_md_bits":0,"metadata":{"ingress_timestamp":1000}`, `"source":"10.0.0.1"`}},
	{"1.0: IPv4 with INT, ports, latency and egress timestamp", "1.0_int", []string{
		`"in_type":4,"next_protocol":1,"header_length":7,"dropped":false,"congested_queue":false,"tracked_flow":true,"rep_md_bits":52`,
		`"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"hop_latency":100,"egress_timestamp":2000}`,
		`"hops":[{"node_id":2,"queue_id":1,"queue_occupancy":34},{"node_id":1,`,
	}},
	{"1.0: every bit", "1.0_every_bit", []string{`"dropped":true,"congested_queue":true,"tracked_flow":false,"rep_md_bits":63`, `"drop_queue_id":3,"drop_reason":60,"tx_utilization":50}`, `"drop_reason_name":"acl_deny"`}},
	{"0.5: Ethernet, nothing of its own", "0.5_ethernet", []string{`"next_protocol":0,"dropped":false,"congested_queue":false,"tracked_flow":true,"metadata":{"ingress_timestamp":1000}`, `"source":"10.0.0.1"`}},
	{"0.5: switch local", "0.5_switch_local", []string{`"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"queue_id":3,"queue_occupancy":68,"egress_timestamp":2000}`}},
	{"0.5: switch local without a queue, hop latency as the difference of the timestamps", "0.5_no_queue", []string{`"ingress_interface_id":null,"egress_interface_id":null,"queue_id":null,"queue_occupancy":null,"egress_timestamp":2000}`}},
	{"0.5: drop", "0.5_drop", []string{`"dropped":true`, `"queue_id":3,"drop_reason":60}`, `"drop_reason_name":"acl_deny"`}},
	{"0.5: headers of IP get an Ethernet header", "0.5_ip", []string{`"source_mac":"00:00:00:00:00:00"`, `"source":"10.0.0.1"`}},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			b := reporttest.Wire(t, g.file)
			m, err := Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Reports) != 1 || reporttest.ToJSON(t, m.Header) != `{"version":2,"hw_id":5,"sequence_number":7,"node_id":3}` {
				t.Fatalf("decoded %d reports of %s", len(m.Reports), reporttest.ToJSON(t, m.Header))
			}
			got := reporttest.ToJSON(t, m.Reports[0])
			for _, want := range g.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
			if m, err := (&Decoder{Strict: true}).Decode(b); err != nil || len(m.Reports) != 1 {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

func TestGoldenOld(t *testing.T) {
	for _, g := range goldenOld {
		t.Run(g.name, func(t *testing.T) {
			contains(t, &Decoder{INTPorts: []uint16{5000}, Strict: true}, hex.EncodeToString(reporttest.Wire(t, g.file)), g.want...)
		})
	}
}

// BenchmarkDecode decodes one report with two hops.
func BenchmarkDecode(b *testing.B) {
	payload := reporttest.Wire(b, "int_tcp")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(payload); err != nil {
			b.Fatal(err)
		}
	}
}
