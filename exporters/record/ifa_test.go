package record

import (
	"encoding/hex"
	"strings"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/intgen"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/reporttest"
)

// TestIFA1: of IFA 1.0 a record has the bytes from the header on, and no hop; where no marker is configured, it is payload.
func TestIFA1(t *testing.T) {
	packet := ip(t, `45000042 00010000 40110000 0a000001 0a000002 82350035 002c0000
		aaaaaaaabbbbbbbb 01010000 ffffffff ff010000 10000008 00070001 0102030405060708 6869`)
	const flow = `"source_port":33333,"destination_port":53`
	marked := NewDecoder(Options{INT: []inthdr.Config{{Formats: inthdr.Formats{IFA: &ifa.Config{Marker: ifa.MarkerOfH3C}}}}})
	got, err := lines(t, marked, reporttest.Hex(t, packet))
	if err != nil || !strings.Contains(got[0], flow) || !strings.Contains(got[0], `"int_type":"ifa"`) || !strings.Contains(got[0], `"int_problem":"ifa_1"`) ||
		!strings.Contains(got[0], `"source_metadata":"01010000ffffffffff0100001000000800070001`+`0102030405060708"`) || strings.Contains(got[0], "hop") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = lines(t, NewDecoder(Options{}), reporttest.Hex(t, packet)); err != nil || !strings.Contains(got[0], flow) || strings.Contains(got[0], "int_") {
		t.Errorf("without a marker: %v\n%s", err, got)
	}
}

// TestIFALinks: the time from when a node has sent a packet on to when the next one receives it is a link's, where both times are near
// the report's.
func TestIFALinks(t *testing.T) {
	const report = uint64(1763776801) // seconds, of the receipt
	now := report % (1 << 20) * 1e9
	for _, c := range []struct {
		times []uint64 // the newest first
		want  string
	}{
		{[]uint64{now + 9_000, now}, `"links":[{"from":1,"to":2,"latency_ns":8000}]`},
		{[]uint64{now, now + 9_000}, ""},
		{[]uint64{now + 9_000, 0}, ""},
		{[]uint64{now + 90_000e9, now + 5}, ""},
	} {
		hops := []intgen.Hop{{NodeID: 2, LatencyNs: 2000, IngressTimestamp: c.times[0]}, {NodeID: 1, LatencyNs: 1000, IngressTimestamp: c.times[1]}}
		s := intgen.Source{Marking: intgen.ByIFA}
		f, err := s.Insert(intgen.NthFlow(1, false, false).Frame(60, 1), hops)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lines(t, NewDecoder(Options{}), reporttest.Hex(t, ip(t, hex.EncodeToString(f[14:]))))
		if err != nil || strings.Contains(got[0], `"links"`) != (c.want != "") || !strings.Contains(got[0], c.want) {
			t.Errorf("%d: %v\n%s", c.times, err, got)
		}
	}
}
