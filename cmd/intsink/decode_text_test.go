package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"intsink/engine/report"
)

// TestTextNamesDropReasons: where JSON has drop_reason_name, so has text.
func TestTextNamesDropReasons(t *testing.T) {
	var p report.Packet
	p.Open(make([]byte, 1400))
	for _, code := range []byte{60, 255} { // one with a name, one without
		p.Append(&report.Individual{RepType: report.INT, InType: report.None, Dropped: true,
			RepMdBits: report.MdDropReason, Metadata: []byte{0, code, 0, 0}})
	}
	m, err := report.Decode(p.Seal(report.GroupHeader{NodeID: 3}))
	if err != nil {
		t.Fatal(err)
	}
	g := datagram{1, time.Unix(0, 0), netip.AddrPort{}, netip.AddrPort{}}
	if got := reportText(g, &m.Header, &m.Reports[0]); !strings.Contains(got, " drop_reason_name=acl_deny\n") {
		t.Errorf("%s", got)
	}
	if got := reportText(g, &m.Header, &m.Reports[1]); strings.Contains(got, "drop_reason_name") {
		t.Errorf("%s", got)
	}
}
