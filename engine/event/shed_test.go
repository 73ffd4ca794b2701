package event

import (
	"math/rand/v2"
	"testing"

	"intsink/flows"
)

// TestShedSampleIsReported: a sample that is shed leaves its flow as one that is reported, and is counted;
// none is at other times, or of a flow without Cold.
func TestShedSampleIsReported(t *testing.T) {
	d := New([]Policy{{}, {Events: 1 << Refresh, Sample: 1, Thresholds: Thresholds{RefreshEvery: 1e9, RefreshJitter: 0.2}}}, 7)
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 1000 {
		var of [64]*flows.Flow
		var hashes [64]uint64
		f, g := flows.Flow{Watch: 1}, flows.Flow{Watch: 1}
		of[5], hashes[5] = &g, rng.Uint64()
		now := rng.Int64N(1e18)
		*d.Shed(1) = Shed{Until: now + 1, Any: true}
		shed := func(at int64, template uint8, length int) bool {
			return d.view.ShedSample(at, &f, hashes[5], template, length)
		}
		if shed(now, 0, 100) || f != (flows.Flow{Watch: 1}) {
			t.Fatal("a sample of a flow without Cold was shed")
		}
		f.Cold()
		if n%2 == 0 {
			*d.Shed(1) = Shed{Until: now + 1, Templates: 1<<63 | 1<<3, Length: 100}
			if shed(now, 62, 100) || shed(now, 3, 99) {
				t.Fatal("another template, or a shorter packet, was shed")
			}
		}
		if shed(now+1, 3, 100) || !shed(now, 3, 100) {
			t.Fatalf("%d: shed at the end of the time, or not before it", now)
		}
		d.ReportedSamples(now, &of, &hashes, 1<<5)
		if f.LastReport != g.LastReport || f.LastEvents != g.LastEvents || f.NextRefresh != g.NextRefresh || f.Cold().Shed != 1 {
			t.Fatalf("%d: %+v, want %+v", now, f, g)
		}
		if fired := d.Counters.Fired[Sample]; d.TakeShed(1) != 1 || d.TakeShed(1) != 0 || d.TakeShed(0) != 0 || d.Counters.Fired[Sample] != fired+1 || fired != uint64(2*n+1+n/2) {
			t.Fatalf("%d samples, before %d", d.Counters.Fired[Sample], fired)
		}
		if d.view.ForgetTemplate(3); n%2 == 0 && shed(now, 3, 100) || n%2 == 1 && !shed(now, 3, 100) || d.TakeShed(1) != uint64(n%2) {
			t.Fatal("a template that is another one by now")
		}
	}
}
