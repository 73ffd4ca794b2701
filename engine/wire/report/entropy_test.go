package report_test

import (
	"testing"

	"intsink/engine/wire/report"
)

// TestEntropyPortIsDynamic: a source port is one of 49152 to 65535 (RFC 6335), and the low 14 bits of
// the entropy choose it.
func TestEntropyPortIsDynamic(t *testing.T) {
	for entropy, want := range map[uint16]uint16{0: 49152, 1: 49153, 0x3fff: 65535, 0x4000: 49152, 0xffff: 65535, 0x9234: 0xd234} {
		if got := report.EntropyPort(entropy); got != want {
			t.Errorf("entropy %#x: port %d, want %d", entropy, got, want)
		}
	}
}
