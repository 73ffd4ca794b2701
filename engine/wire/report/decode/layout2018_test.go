package decode

import (
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report/reporttest"
)

// TestReportOf2018: the bits of the proposal of January 2018 stand for other values than those of 1.0; which they are
// is told.
func TestReportOf2018(t *testing.T) {
	wire := reporttest.Wire(t, "1.0_of_2018")
	for _, of2018 := range []bool{true, false} {
		p := Reports{Layout2018: of2018}
		var r Report
		if err := p.Open(wire); err != nil || !p.Next(&r) || r.Problem != NoProblem || p.Version != Version10 || len(r.Inner) != 40 || !r.Dropped {
			t.Fatalf("%+v, %v", r, err)
		}
		m := &r.Own
		if m.Ingress != 1 || m.Egress != 2 {
			t.Errorf("ports %d, %d", m.Ingress, m.Egress)
		}
		if right := m.Queue == 3 && m.Occupancy == 0x44 && m.EgressTime == 0x7d0 && m.DropQueue == 3 && m.DropReason == 60 && m.Latency == inthdr.Unknown; right != of2018 {
			t.Errorf("read as of 2018 %v: %s", of2018, known(m))
		}
	}
	wire[2] |= 0x80 // bit 5, which is reserved; a word is missing for it
	p := Reports{Layout2018: true}
	var r Report
	if err := p.Open(wire); err != nil || !p.Next(&r) || !r.Reserved || r.Problem == NoProblem || r.Own.TxUtilization != inthdr.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}
