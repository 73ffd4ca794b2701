package record

import (
	"testing"

	"intsink/engine/wire/report/reporttest"
)

// TestRecordOf2018: a record of the proposal of January 2018 has the sink's queue where it is told, and no latency.
func TestRecordOf2018(t *testing.T) {
	wire := reporttest.Wire(t, "1.0_of_2018")
	for _, of2018 := range []bool{true, false} {
		n, err := NewDecoder(Options{Layout2018: of2018}).Records(wire, &Origin{}, func(r *Record) {
			if queue, latency := r.Sink.Known&HopOccupancy != 0 && r.Sink.Occupancy == 0x44, r.Sink.Known&HopLatency != 0; queue != of2018 || latency == of2018 {
				t.Errorf("of 2018 %v: %+v", of2018, r.Sink)
			}
		})
		if n != 1 || err != nil {
			t.Errorf("%d records, %v", n, err)
		}
	}
}
