package reporting

import (
	"testing"

	"intsink/engine/report"
	"intsink/engine/report/decode"
)

// TestSequenceNumbersOfOldFormats: in 1.0 and 0.5 sequence numbers have 32 bits, in 2.0 they
// have 22.
func TestSequenceNumbersOfOldFormats(t *testing.T) {
	for f, want := range map[report.Format]uint32{report.Format20: 5, report.Format10: 1<<22 + 5, report.Format05: 1<<22 + 5} {
		b := newBed(t, func(r *Rules, _ *Collector) { r.Format, r.MaxReports = f, 1 })
		b.outboxes[0].group.Sequence = 1<<22 + 5
		b.Report(&Subject{Collectors: 1}, b.now)
		all := b.sealed()
		if len(all) != 1 {
			t.Fatalf("format %d: %d report packets", f, len(all))
		}
		if m, err := decode.Decode(all[0]); err != nil || m.SequenceNumber != want {
			t.Errorf("format %d: sequence number %v, %v, want %d", f, m, err, want)
		}
		b.balance()
	}
}
