package report_test

import (
	"fmt"
	"testing"

	"intsink/engine/wire/report"
)

// TestExplanationReadsWhatItWrote: every field, and of bytes of another length it takes nothing.
func TestExplanationReadsWhatItWrote(t *testing.T) {
	want := report.Explanation{
		Events: 1 << 17, Suppressed: 2, Packets: 3 << 40, Bytes: 4 << 50, Lost: 5, Drops: 6,
		Trigger: report.Trigger{NodeID: 7, Reference: 8, Value: 9},
	}
	var b [report.ExplanationLen + 1]byte
	want.Put(b[:])
	for n := range len(b) + 1 {
		t.Run(fmt.Sprint(n, " bytes"), func(t *testing.T) {
			var got report.Explanation
			ok := got.Get(b[:n])
			if whole := n == report.ExplanationLen; ok != whole || whole && got != want || !whole && got != (report.Explanation{}) {
				t.Errorf("%v, %+v", ok, got)
			}
		})
	}
}

// TestPutTotalsIsPut: of packets and bytes, and leaves all other bytes alone.
func TestPutTotalsIsPut(t *testing.T) {
	old := report.Explanation{
		Events: 1 << 17, Suppressed: 2, Packets: 1<<64 - 1, Bytes: 1<<64 - 1, Lost: 5, Drops: 6,
		Trigger: report.Trigger{NodeID: 7, Reference: 8, Value: 9},
	}
	want := old
	want.Packets, want.Bytes = 3<<40, 4<<50+1
	var got, put [report.ExplanationLen + 1]byte
	old.Put(got[:])
	want.Put(put[:])
	if report.PutTotals(got[:], want.Packets, want.Bytes); got != put {
		t.Errorf("%x\nwant %x", got, put)
	}
}
