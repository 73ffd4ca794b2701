package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"intsink/engine/report"
	"intsink/engine/report/reporttest"
)

// contains decodes wire and looks for every one of want in the JSON of its
// reports, one per line.
func contains(t *testing.T, d *Decoder, wire string, want ...string) *Message {
	t.Helper()
	m, err := d.Decode(reporttest.Hex(t, wire))
	if err != nil {
		t.Fatal(err)
	}
	got := reporttest.ToJSON(t, m.Header)
	for i := range m.Reports {
		got += "\n" + reporttest.ToJSON(t, m.Reports[i])
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %s in\n%s", w, got)
		}
	}
	return m
}

// bare is an individual report without main contents, of so many words.
func bare(words int) report.Individual {
	return report.Individual{InType: report.DSExtension, Inner: make([]byte, words*4)}
}

var plain = &Decoder{INTPorts: []uint16{5000}}

func TestDecodeCoalesced(t *testing.T) {
	m := contains(t, plain, reporttest.GroupHex+`00 00 00 80  04 0a 00 40`+reporttest.IPv4TCPHex+`10 03 01 20 0001 5453 0000 0002 07210000 02 01 00 10 deadbeef`,
		`"rep_type":0,"in_type":0,"report_length":0,"md_length":0,"dropped":true,"congested_queue":false,"tracked_flow":false,"intermediate":false,"metadata":{},"inner":{"type":"none","length":0}`,
		`"congested_queue":true`,
		`"rep_md_bits":1,"domain_specific_id":21587,"ds_md_bits":0,"ds_md_status":2,"metadata":{"queue_id":7,"drop_reason":33}`,
		`"intermediate":true,"metadata":{},"inner":{"type":"ds_extension","length":4,"data":"deadbeef"}`)
	if len(m.Reports) != 4 {
		t.Errorf("%d reports, want 4", len(m.Reports))
	}
}

func TestDecodeToTheEnd(t *testing.T) {
	for _, words := range []int{255, 256, 300} {
		var p report.Packet
		p.Open(make([]byte, 4096))
		small, large := bare(1), bare(words)
		p.Append(&small)
		p.Append(&large)
		m, err := Decode(p.Seal(group))
		if err != nil || len(m.Reports) != 2 || *m.Reports[1].ReportLength != 0xff || m.Reports[1].Inner.Length != words*4 {
			t.Errorf("%d words: %v, %s", words, err, reporttest.ToJSON(t, m))
		}
	}
	if _, err := Decode(append(reporttest.Hex(t, reporttest.GroupHex+`03 ff 00 00`), make([]byte, 254*4)...)); !errors.Is(err, ErrTruncated) {
		t.Errorf("0xFF with 254 words: %v", err)
	}
}

// All ones mean that the node could not provide the value.
func TestDecodeNull(t *testing.T) {
	contains(t, plain, reporttest.GroupHex+`10 0e 0c 00 7f81 0000 0000 0000
		ffff 0002  ffffffff  ffffffff  ffffffffffffffff 0000000000000001
		00000003 ffffffff  00000004  ff000005  ff060000`,
		`"metadata":{"ingress_interface_id":null,"egress_interface_id":2,"hop_latency":null,"queue_id":null,"queue_occupancy":null,`+
			`"ingress_timestamp":null,"egress_timestamp":1,"level2_ingress_interface_id":3,"level2_egress_interface_id":null,`+
			`"tx_utilization":4,"buffer_id":255,"buffer_occupancy":5,"drop_queue_id":255,"drop_reason":6}`)
}

func TestDecodeReservedCodePoints(t *testing.T) {
	contains(t, plain, reporttest.GroupHex+`24 01 00 00 01020304 50 01 00 00 05060708 06 01 00 00 090a0b0c`,
		`"rep_type":2,"in_type":4,"report_length":1`, `"inner":{"type":"unknown","length":4,"data":"01020304"}`,
		`"rep_type":5`, `"data":"05060708"`, `"in_type":6`, `"data":"090a0b0c"`)
	for _, bad := range []string{`24 00 00 00`, `30 00 00 00`, `06 00 00 00`, `00 00 00 01`} {
		_, err := (&Decoder{Strict: true}).Decode(reporttest.Hex(t, reporttest.GroupHex+bad))
		if want := bad != `24 00 00 00`; errors.Is(err, ErrNotReport) != want {
			t.Errorf("strict, %s: %v", bad, err)
		}
	}
}

// A bad individual report does not hide the next one.
func TestDecodeGoesOn(t *testing.T) {
	m, err := Decode(reporttest.Hex(t, reporttest.GroupHex+`10 03 02 00 0000 0000 0000 0000 01020304 00 00 00 20`))
	if err == nil || len(m.Reports) != 2 || m.Reports[0].Problem == "" || !m.Reports[1].TrackedFlow {
		t.Errorf("%v\n%s", err, reporttest.ToJSON(t, m))
	}
	for name, wire := range map[string]string{
		"MD Length shorter than RepMdBits": `10 04 01 00 4800 0000 0000 0000 00010002 00000000`,
		"no room for the main contents":    `10 01 00 00 00000000`,
		"InType none with contents":        `00 01 00 00 01020304`,
		"TLV beyond the report":            `01 02 00 00 20 02 0000 01020304`,
	} {
		m, err := Decode(reporttest.Hex(t, reporttest.GroupHex+wire))
		if err == nil || len(m.Reports) != 1 || m.Reports[0].Problem == "" {
			t.Errorf("%s: %v\n%s", name, err, reporttest.ToJSON(t, m))
		}
	}
}

// TestNTPIsNoReport: what an NTP client sends (RFC 5905) has the version and the zeros of a
// report that says nothing.
func TestNTPIsNoReport(t *testing.T) {
	ntp := reporttest.Hex(t, `23000600 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 e8f2a1b3 00000000`)
	if m, err := (&Decoder{Strict: true}).Decode(ntp); !errors.Is(err, ErrNotReport) {
		t.Errorf("%v, %s", err, reporttest.ToJSON(t, m))
	}
	if m, err := plain.Decode(reporttest.Hex(t, reporttest.GroupHex+`00000020`)); err != nil || len(m.Reports) != 1 { // F alone says something
		t.Errorf("%v", err)
	}
	if _, err := (&Decoder{Strict: true}).Decode(reporttest.Hex(t, reporttest.GroupHex+`00000020`)); err != nil {
		t.Errorf("%v", err)
	}
}

func TestDecodeNotAReport(t *testing.T) {
	for _, wire := range []string{``, `20`, `200000`, `30000000 00000000 00000000`, `f0000000`, `20000000 000000`,
		`10000000 00000000 00000000 00000000`, `14008000 00000000 00000000 00000000`, `03000000 00000000 00000000`} {
		if m, err := Decode(reporttest.Hex(t, wire)); !errors.Is(err, ErrNotReport) || m != nil {
			t.Errorf("%s: %v, %v", wire, m, err)
		}
	}
	if m, err := Decode(reporttest.Hex(t, reporttest.GroupHex)); m == nil || len(m.Reports) != 0 || !errors.Is(err, ErrTruncated) {
		t.Errorf("group header alone: %v, %v", m, err)
	}
}

const etherHex = `020000000002 020000000001 0800`

// The published version 1.0: bits 0 ports, 1 latency, 2 queue, 3 egress
// timestamp, 4 drop reason, 5 tx utilization.
func TestDecode10(t *testing.T) {
	// Ver 1, Length 10, NProt 1, RepMdBits 111111, D Q F = 101, hw_id 5.
	d := &Decoder{INTPorts: []uint16{5000}, Strict: true}
	contains(t, d, `1a 3f 81 45 00000009 00000064 000003e8
		00010002 00000064 03000044 000007d0 04210000 00000032`+reporttest.IPv4TCPHex,
		`{"version":1,"hw_id":5,"sequence_number":100,"node_id":9}`,
		`{"in_type":4,"next_protocol":1,"header_length":10,"dropped":true,"congested_queue":false,"tracked_flow":true,"rep_md_bits":63,`+
			`"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"hop_latency":100,"queue_id":3,"queue_occupancy":68,`+
			`"egress_timestamp":2000,"drop_queue_id":4,"drop_reason":33,"tx_utilization":50},"inner":{"type":"ipv4","length":40,`)
	contains(t, d, `14 00 00 80 00000009 00000064 ffffffff`+etherHex+reporttest.IPv4TCPHex,
		`"in_type":3,"next_protocol":0,"header_length":4,"dropped":false,"congested_queue":true,"tracked_flow":false,"rep_md_bits":0,"metadata":{"ingress_timestamp":null}`,
		`"source_mac":"02:00:00:00:00:01","destination_mac":"02:00:00:00:00:02","ethertype":2048,"source":"10.0.0.1"`)
	m, err := Decode(reporttest.Hex(t, `15 30 00 00 00000009 00000064 00000000 0001`))
	if !errors.Is(err, ErrTruncated) || len(m.Reports) != 1 || m.Reports[0].Problem == "" {
		t.Errorf("cut in the metadata: %v %s", err, reporttest.ToJSON(t, m))
	}
}

func TestDecode05(t *testing.T) {
	d := &Decoder{INTPorts: []uint16{5000}, Strict: true}
	contains(t, d, `00 20 00 05 00000064 000003e8`+etherHex+reporttest.IPv4TCPHex,
		`{"version":0.5,"hw_id":5,"sequence_number":100}`,
		`{"in_type":3,"next_protocol":0,"dropped":false,"congested_queue":false,"tracked_flow":true,"metadata":{"ingress_timestamp":1000},`)
	contains(t, d, `01 80 00 05 00000064 000003e8 00000009 00010002 03210000`+etherHex+reporttest.IPv4TCPHex,
		`"node_id":9`, `"dropped":true`, `"metadata":{"ingress_timestamp":1000,"ingress_interface_id":1,"egress_interface_id":2,"queue_id":3,"drop_reason":33}`, `"source":"10.0.0.1"`)
	contains(t, d, `02 40 00 05 00000064 000003e8 00000009 00010002 03000044 000007d0`+etherHex+reporttest.IPv4TCPHex,
		`"congested_queue":true`, `"queue_id":3,"queue_occupancy":68,"egress_timestamp":2000}`, `"destination":"10.0.0.2"`)
	if m, err := Decode(reporttest.Hex(t, `02 40 00 05 00000064 000003e8 00000009`)); !errors.Is(err, ErrTruncated) || len(m.Reports) != 1 {
		t.Errorf("cut in the switch local header: %v", err)
	}
	// A DNS answer with a small id is no report.
	if _, err := d.Decode(reporttest.Hex(t, `0001 8180 0001 0001 0000 0000 03777777 076578616d706c65 03636f6d 00 0001 0001`)); !errors.Is(err, ErrNotReport) {
		t.Errorf("DNS: %v", err)
	}
}

// Cut at every byte, a report is an error or shorter, and never a panic; the
// complete reports in front of the cut are all there.
func TestDecodeTruncated(t *testing.T) {
	for _, g := range golden {
		one := reporttest.Wire(t, g.file)
		wire := append(bytes.Clone(one), one[report.GroupHeaderLen:]...) // two reports
		for n := range wire {
			m, err := plain.Decode(wire[:n])
			if n == len(one) {
				if err != nil {
					t.Errorf("%s: one whole report: %v", g.name, err)
				}
				continue
			}
			if !errors.Is(err, ErrTruncated) && !(n < 4 && errors.Is(err, ErrNotReport)) {
				t.Errorf("%s: %d of %d bytes: %v", g.name, n, len(wire), err)
			}
			if n > len(one) && (len(m.Reports) == 0 || m.Reports[0].Problem != "") {
				t.Errorf("%s: %d of %d bytes: the first report is hidden", g.name, n, len(wire))
			}
		}
	}
}

// Cut at every byte, a report is an error or shorter, and never a panic.
func TestDecodeOldTruncated(t *testing.T) {
	for _, g := range goldenOld {
		wire := reporttest.Wire(t, g.file)
		header := 12 + []int{0, 12, 16}[wire[0]&0xf%3]
		if wire[0]>>4 == 1 {
			header = int(wire[0]&0xf) * 4
		}
		for n := range header {
			if m, err := plain.Decode(wire[:n]); err == nil && binary.BigEndian.Uint32(wire)>>28 == 1 {
				t.Errorf("%s: %d of %d bytes: %s", g.name, n, header, reporttest.ToJSON(t, m))
			} else if err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrNotReport) {
				t.Errorf("%s: %d of %d bytes: %v", g.name, n, header, err)
			}
		}
	}
}
