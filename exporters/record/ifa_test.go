package record

import (
	"strings"
	"testing"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/reporttest"
)

// TestIFA1: of IFA 1.0 a record has the bytes from the header on, and no hop; where no marker is configured, it is payload.
func TestIFA1(t *testing.T) {
	packet := ip(t, `45000042 00010000 40110000 0a000001 0a000002 82350035 002c0000
		aaaaaaaabbbbbbbb 01010000 ffffffff ff010000 10000008 00070001 0102030405060708 6869`)
	const flow = `"source_port":33333,"destination_port":53`
	marked := NewDecoder(Options{INT: []inthdr.Config{{IFA: &ifa.Config{Marker: ifa.MarkerOfH3C}}}})
	got, err := lines(t, marked, reporttest.Hex(t, packet))
	if err != nil || !strings.Contains(got[0], flow) || !strings.Contains(got[0], `"int_type":"ifa"`) || !strings.Contains(got[0], `"int_problem":"ifa_1"`) ||
		!strings.Contains(got[0], `"source_metadata":"01010000ffffffffff0100001000000800070001`+`0102030405060708"`) || strings.Contains(got[0], "hop") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = lines(t, NewDecoder(Options{}), reporttest.Hex(t, packet)); err != nil || !strings.Contains(got[0], flow) || strings.Contains(got[0], "int_") {
		t.Errorf("without a marker: %v\n%s", err, got)
	}
}
