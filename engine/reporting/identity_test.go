package reporting

import (
	"testing"

	"intsink/engine/wire/report"
)

// TestIdentityOfPackets: a packet with explained reports says which sink it is from, since when and which of all it
// is, and its reports have less room by that; other packets do not.
func TestIdentityOfPackets(t *testing.T) {
	for _, c := range []struct {
		name     string
		rules    Rules
		instance uint64
		want     int
	}{
		{"explained", Rules{Explain: true}, 7, report.IdentityReportLen},
		{"of a replay", Rules{Explain: true}, 0, 0},
		{"not explained", Rules{}, 7, 0},
		{"of version 1.0", Rules{Explain: true, Format: report.Format10}, 7, 0},
	} {
		o := outbox{instance: c.instance, limit: limit{bucket: NewBucket()}}
		o.configure(&Collector{MaxPayload: 1000}, &c.rules)
		if o.head != c.want {
			t.Errorf("%s: %d bytes in front of the reports, want %d", c.name, o.head, c.want)
		}
	}
}
