package decode

import (
	"strings"
	"testing"
	"time"

	"intsink/engine/report"
	"intsink/engine/report/decode"
)

// TestTextNamesDropReasons: where JSON has drop_reason_name, so has text.
func TestTextNamesDropReasons(t *testing.T) {
	var p report.Packet
	p.Open(make([]byte, 1400))
	for _, code := range []byte{60, 255} { // one with a name, one without
		p.Append(&report.Individual{RepType: report.INT, InType: report.None, Dropped: true,
			RepMdBits: report.MdDropReason, Metadata: []byte{0, code, 0, 0}})
	}
	m, err := decode.Decode(p.Seal(report.GroupHeader{NodeID: 3}))
	if err != nil {
		t.Fatal(err)
	}
	g := datagram{number: 1, time: time.Unix(0, 0)}
	if got := reportText(g, &m.Header, &m.Reports[0]); !strings.Contains(got, " drop_reason_name=acl_deny\n") {
		t.Errorf("%s", got)
	}
	if got := reportText(g, &m.Header, &m.Reports[1]); strings.Contains(got, "drop_reason_name") {
		t.Errorf("%s", got)
	}
}

func TestTextSaysWhy(t *testing.T) {
	node, value, reference := uint32(102), uint32(500_000), uint32(10_000)
	h := decode.Header{Version: 2}
	r := decode.Report{
		Events:    []string{"hop_latency", "end_to_end"},
		Explained: &decode.Explained{Packets: 9, Bytes: 900, Suppressed: 1, NodeID: &node, Value: &value, Reference: &reference},
	}
	const want = "\n  events hop_latency,end_to_end: node 102 500000 against 10000 (9 packets, 900 bytes, 1 suppressed, 0 lost, 0 dropped)\n"
	if got := reportText(datagram{}, &h, &r); !strings.Contains(got, want) {
		t.Errorf("%q, want %q in it", got, want)
	}
	r = decode.Report{Events: []string{"flow_end"}, Explained: &decode.Explained{Packets: 2, Bytes: 120}}
	if got := reportText(datagram{}, &h, &r); !strings.Contains(got, "\n  events flow_end (2 packets, 120 bytes, 0 suppressed, 0 lost, 0 dropped)\n") {
		t.Errorf("%q", got)
	}
}
