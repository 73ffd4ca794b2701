package record

import (
	"strings"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/decode"
	"intsink/engine/wire/report/reporttest"
)

// object returns the one record of a report packet as JSON.
func object(t *testing.T, wire string) string {
	t.Helper()
	all := objects(t, wire)
	if len(all) != 1 {
		t.Fatalf("%d records", len(all))
	}
	return all[0]
}

func objects(t *testing.T, wire string) (all []string) {
	t.Helper()
	if _, err := NewDecoder(Options{}).Records(reporttest.Hex(t, wire), &testOrigin, func(r *Record) { all = append(all, string(AppendJSON(nil, r))) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReportersValues: a record has every value that the reporting node tells of itself, and all of the report's headers: of an
// intermediate report with each bit of RepMdBits, domain specific metadata, and extension data.
func TestReportersValues(t *testing.T) {
	got := object(t, groupHex+`12 10 0d 10 7f81 0007 8000 0003
		00010002 00000064 03000044 187a31a79b134000 187a31a79b134064 00000005 00000006 00000032 01000005 04210000 cafebabe deadbeef`)
	for _, want := range []string{
		`"rep_type":1,"in_type":2,"intermediate":true,"domain":7,"ds_md_bits":32768,"ds_md_status":3,`,
		`"drop_reason":33,`,
		`"sink":{"ingress":1,"egress":2,"ingress2":5,"egress2":6,"latency_ns":100,"queue":3,"occupancy":68,"ingress_time":"2025-11-22T02:00:00.000000000Z",` +
			`"egress_time":"2025-11-22T02:00:00.000000100Z","tx_utilization":50,"buffer":1,"buffer_occupancy":5},"ds_metadata":"cafebabe","data":"deadbeef"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %s", got, want)
		}
	}
}

// TestHopsLoseNothing: buffer and domain specific metadata of hops in front of a checksum complement, the congestion status of June
// 2016, and what INT-MX carries.
func TestHopsLoseNothing(t *testing.T) {
	domain := `14 07 0035 2000 0406 8081 5453 4000 0000 00000001 ff000011 0badcafe 0000ffff`
	for _, c := range []struct{ name, packet, want string }{
		{"buffer", udp4(t, 5000, `14 05 0035`+md("02", "8080", "00000001 ff000011")), `"hops":[{"node_id":1,"buffer":255,"buffer_occupancy":17}]`},
		{"buffer whose occupancy is unknown", udp4(t, 5000, `14 05 0035`+md("02", "8080", "00000001 07ffffff")), `"hops":[{"node_id":1,"buffer":7}]`},
		{"domain that is known, instruction that is not", udp4(t, 5000, domain), `"source_metadata":"00000001ff0000110badcafe0000ffff","int_problem":"unknown_domain"`},
		{"June 2016", udp4(t, 4790, `0c000005 00000700 01000603 00030601 8600 0000 00000001 00000009 80000063`), `"hops":[{"node_id":1,"egress":9,"congestion":99}]`},
		{"INT-MX", udp4(t, 5000, `34 05 0035 20000000 8000 5453 8000 0000 a61af6b1647d0000`), `"device_id":"a61af6b1647d0000"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := object(t, ip(t, c.packet)); !strings.Contains(got, c.want) {
				t.Errorf("%s\nhas no %s", got, c.want)
			}
		})
	}
}

// TestMetadataOfADomain: what each hop adds for a domain stands behind the baseline, in front of the checksum complement.
func TestMetadataOfADomain(t *testing.T) {
	config := DefaultINT()[0]
	config.Domains[0].ID = 7
	config.Domains[0].Bits[0].Length, config.Domains[0].Bits[0].SourceOnly = 8, false
	d := NewDecoder(Options{INT: []inthdr.Config{config}})
	var got string
	wire := ip(t, udp4(t, 5000, `14 0d 0035 2000 0506 8081 0007 8000 0000 00000002 ff000011 0badcafe 0badf00d 0000ffff 00000001 ff000012 1badcafe 1badf00d 0000ffff`))
	if _, err := d.Records(reporttest.Hex(t, wire), &testOrigin, func(r *Record) { got = string(AppendJSON(nil, r)) }); err != nil {
		t.Fatal(err)
	}
	want := `"hops":[{"node_id":1,"buffer":255,"buffer_occupancy":18,"ds_metadata":"1badcafe1badf00d"},{"node_id":2,"buffer":255,"buffer_occupancy":17,"ds_metadata":"0badcafe0badf00d"}]`
	if !strings.Contains(got, want) {
		t.Errorf("%s\nhas no %s", got, want)
	}
}

// TestEveryTLV: of several packets in a report the record describes the first, and has the others as they are; extension data and
// reserved types, too.
func TestEveryTLV(t *testing.T) {
	second := udp4(t, 53, ``)
	got := object(t, groupHex+`01 18 00 20  00 01 0042 deadbeef  20 0a 0000`+ipHex+`20 07 0000`+second+`90 01 1234 0badcafe  10 00 0000`)
	want := `"tlvs":[{"type":"ds_extension","template":66,"data":"deadbeef"},{"type":"ipv4","data":"` + second + `"},{"type":"9","data":"0badcafe"},{"type":"ethernet"}]}`
	if !strings.Contains(got, tcpFlow) || !strings.HasSuffix(got, want) {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestContentsWithoutAMeaning: RepType 2, and types that are reserved, are kept as they are.
func TestContentsWithoutAMeaning(t *testing.T) {
	got := objects(t, groupHex+`24 01 00 00 01020304  50 01 00 0f 05060708  06 01 00 00 090a0b0c`)
	for i, want := range []string{`"rep_type":2,"in_type":4,`, `"rep_type":5,"in_type":0,`, `"rep_type":0,"in_type":6,`} {
		if !strings.Contains(got[i], want) || !strings.HasSuffix(got[i], []string{`"data":"01020304"}`, `"data":"05060708"}`, `"data":"090a0b0c"}`}[i]) || strings.Contains(got[i], "malformed") {
			t.Errorf("%s", got[i])
		}
	}
}

// TestProblems: what is wrong with a report is told by name.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		wire string
		want decode.Problem
	}{
		{`14 06 03 00 5000 0000 0000 0000 00010002 03000044 45000014 00000000`, decode.ProblemMDLength}, // the reported packet is no metadata
		{`10 05 02 00 5000 5453 8000 0000 00010002 03000044 0badcafe`, decode.ProblemMDLength},          // the second example of the specification
		{`04 02 00 00 60000000 00000000`, decode.ProblemInType},
		{`01 02 00 00 20020000 45000014`, decode.ProblemTLV},
		{`04 03 00 00 45000014`, decode.ProblemLength},
	} {
		var got string
		_, err := NewDecoder(Options{}).Records(reporttest.Hex(t, groupHex+c.wire), &testOrigin, func(r *Record) { got = string(AppendJSON(nil, r)) })
		if err != ErrLengths || !strings.Contains(got, `"problem":"`+c.want.String()+`"`) || !strings.Contains(got, `"flags":["malformed"]`) {
			t.Errorf("%s: %v %s, want %s", c.wire, err, got, c.want)
		}
	}
}

// TestTunnels: the flow is the sink's, the headers around it and inside of it stand beside it, with the network identifier.
func TestTunnels(t *testing.T) {
	const (
		hop   = `20000306 e0000000 00000000 00000001 00010002 00000064`
		inner = etherHex + `4500 0028 0001 4000 40 06 0000 0a090001 0a090002` + tcpHex
		tcp   = `"inner":{"flow":"tcp:10.9.0.1:40000-10.9.0.2:80","source":"10.9.0.1","destination":"10.9.0.2","source_port":40000,"destination_port":80,"protocol":6,"dscp":0}`
		outer = `"outer":{"flow":"udp:10.0.0.1:40000-10.0.0.2:4789","source":"10.0.0.1","destination":"10.0.0.2","source_port":40000,"destination_port":4789,"protocol":17,"dscp":0}`
	)
	vxlan := udp4(t, 4789, `08000000 00000700`+inner)
	for _, c := range []struct {
		name, packet string
		want         []string
	}{
		{"INT in Geneve", udp4(t, 6081, `07 00 6558 00000700 0103 01 06`+hop+inner), []string{`"flow":"udp:10.0.0.1:40000-10.0.0.2:6081"`, `"vni":7`, tcp, `"hop_count":1`}},
		{"INT in VXLAN-GPE", udp4(t, 4790, `0c000082 00000700 10 06 00 03`+hop+inner), []string{`"flow":"udp:10.0.0.1:40000-10.0.0.2:4790"`, `"vni":7`, tcp, `"hop_count":1`}},
		{"INT in front of VXLAN", udp4(t, 5000, `14 06 12b5`+hop+`08000000 00000700`+inner), []string{`"flow":"udp:10.0.0.1:40000-10.0.0.2:4789"`, `"vni":7`, tcp, `"hop_count":1`}},
		{"INT in GRE", `4500 006a 0001 4000 40 2f 0000 0a000001 0a000002 0000 88b6 10 06 6558` + hop + inner, []string{`"flow":"gre:10.0.0.1-10.0.0.2"`, tcp, `"hop_count":1`}},
		{"no INT in VXLAN", vxlan, []string{`"flow":"udp:10.0.0.1:40000-10.0.0.2:4789"`, `"vni":7`, tcp}},
		{"INT inside of VXLAN", udp4(t, 4789, `08000000 00000700`+etherHex+strings.Replace(udp4(t, 5000, `14 06 0035`+hop), "0a0000010a000002", "0a0900010a090002", 1)),
			[]string{`"flow":"udp:10.9.0.1:40000-10.9.0.2:53"`, `"vni":7`, outer, `"hop_count":1`}},
		{"IPv6 in GRE", `4500 0058 0001 4000 40 2f 0000 0a000001 0a000002 0000 86dd 60000000 0018 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002` + tcpHex + `00000000`,
			[]string{`"flow":"gre:10.0.0.1-10.0.0.2"`, `"inner":{"flow":"tcp:[2001:db8::1]:40000-[2001:db8::2]:80"`}},
		{"IP in IP", `4500 003c 0001 4000 40 04 0000 0a000001 0a000002 4500 0028 0001 4000 40 06 0000 0a090001 0a090002` + tcpHex, []string{`"flow":"4:10.0.0.1-10.0.0.2"`, tcp}},
		{"a tag inside of VXLAN", udp4(t, 4789, `08000000 00000700 020000000002 020000000001 8100 0064`+inner[len(etherHex)-4:]), []string{`"vni":7`, tcp}},
		{"cut in the inner header", strings.ReplaceAll(vxlan, " ", "")[:2*(28+8+14+20)], []string{`"vni":7`, `"inner":{"source":"10.9.0.1","destination":"10.9.0.2","protocol":6,"dscp":0}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := object(t, ip(t, c.packet))
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s\nhas no %s", got, want)
				}
			}
		})
	}
	if got := object(t, ip(t, ipHex)); strings.Contains(got, "inner") || strings.Contains(got, "outer") || strings.Contains(got, "vni") {
		t.Errorf("no tunnel: %s", got)
	}
}
