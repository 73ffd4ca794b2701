package episode

import (
	"testing"

	"intsink/engine/wire/report"
	"intsink/flows"
)

// TestDoubt: who is accused of filling a queue, by what its packets told.
func TestDoubt(t *testing.T) {
	from := func(host uint32) *flows.Key {
		k := new(flows.Key)
		k.SetIPv4(host, 9)
		return k
	}
	for name, c := range map[string]struct {
		packets, hosts int
		bytes, latency uint32
		lasts, rests   int64
		want           report.Doubt
	}{
		"a queue that is full":         {100, 3, 1400, 2_000_000, 50e6, 0, report.NoDoubt},
		"one that fills for a moment":  {40, 2, 1400, 500_000, 400_000, 0, report.NoDoubt},
		"32 small packets":             {32, 2, 81, 5_000_000, 50e6, 0, report.FewBytes},
		"one sender":                   {5000, 1, 1400, 5_000_000, 50e6, 0, report.OneSource},
		"packets of one moment":        {100, 9, 1400, 5_000_000, 90_000, 0, report.TooShort},
		"others in it did not wait":    {32, 2, 1400, 5_000_000, 90_000, 100_000, report.TooShort},
		"one sender, others go on":     {5000, 1, 1400, 5_000_000, 50e6, 50_000_000, report.OneSource},
		"nobody tells of latencies":    {100, 2, 1400, unknown, 50e6, 0, report.NoDoubt},
		"one sender without latencies": {100, 1, 1400, unknown, 50e6, 0, report.OneSource},
	} {
		b := New()
		id := b.Begin(1000, [2]uint64{7}, 1700, 0)
		for n := range c.packets {
			b.Count(1000+int64(n)*c.lasts/int64(c.packets-1), id, &Packet{Flow: from(uint32(n % c.hosts)), Values: Values{Bytes: c.bytes, Latency: c.latency, Occupancy: 9000}})
		}
		if c.latency != unknown { // one that did not wait is no witness
			b.Count(1000+c.lasts, id, &Packet{Flow: from(77), Values: Values{Bytes: 64, Latency: 1000, Occupancy: 1}})
		}
		if c.rests > 0 { // others go on, and do not wait
			b.Rest(1000+c.rests, id, 1e9)
			for n := range 100 {
				b.Count(1000+c.rests+int64(n)*1e6, id, &Packet{Flow: from(uint32(n)), Values: Values{Bytes: 1400, Latency: 1800, Occupancy: 1}})
			}
		}
		r := b.Open()[0]
		var e report.Episode
		r.summary(&e)
		if got := r.Doubt(); got != c.want.String() || e.Doubt != c.want {
			t.Errorf("%s: %q, want %q; in the report %q", name, got, c.want, e.Doubt)
		}
	}
}
