package event

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"intsink/flows"
)

// TestReportedSamplesIsReported: samples of a burst leave flows and detector as Reported of each does, but for
// the chance in refreshes, whatever watches they are of and however refreshes are stretched.
func TestReportedSamplesIsReported(t *testing.T) {
	var policies []Policy
	for _, every := range []int64{1e9, 2e9, 3600e9, 5 * 24 * 3600e9} {
		policies = append(policies, Policy{Events: 1 << Refresh, Sample: 1, Thresholds: Thresholds{RefreshEvery: every, RefreshJitter: 0.2}})
	}
	by, told := New(policies, 7), New(policies, 7)
	rng := rand.New(rand.NewPCG(1, 2))
	now, refreshes := int64(0), [10]int{}
	for range 200 {
		var a, b [64]flows.Flow
		var of [64]*flows.Flow
		var hashes [64]uint64
		for j := range of {
			hashes[j] = rng.Uint64()
			a[j].Watch = uint8(rng.IntN(len(policies)))
			b[j].Watch = a[j].Watch
			of[j] = &a[j]
		}
		which := rng.Uint64() & rng.Uint64()
		stretch := []uint32{NoStretch, NoStretch, 130, 1500}[rng.IntN(4)]
		by.Stretch, told.Stretch = stretch, stretch
		for left := which; left != 0; {
			watch, reported := by.ReportedSamples(now, &of, &hashes, left)
			if reported == 0 || reported&^left != 0 || of[bits.TrailingZeros64(reported)].Watch != watch {
				t.Fatalf("of %x, %x are reported, of watch %d", left, reported, watch)
			}
			left &^= reported
		}
		for left := which; left != 0; left &= left - 1 {
			told.Counters.Fired[Sample]++
			f, g := &a[bits.TrailingZeros64(left)], &b[bits.TrailingZeros64(left)]
			told.Reported(now, g, Sample.Set())
			p := &told.policies[g.Watch]
			least, most := told.refreshAt(now, p.refreshLeast), told.refreshAt(now, p.refreshLeast+int64(p.refreshSpan))
			if int32(f.NextRefresh-least) < 0 || int32(most-f.NextRefresh) < 0 {
				t.Fatalf("at %d, stretched to %d %%: a refresh at %d, want %d to %d", now, stretch, f.NextRefresh, least, most)
			}
			g.NextRefresh = f.NextRefresh
			refreshes[(f.NextRefresh-least)*10/max(most-least, 1)%10]++
		}
		if a != b || by.Counters != told.Counters {
			t.Fatalf("at %d, stretched to %d %%: other flows, or counters %+v, want %+v", now, stretch, by.Counters, told.Counters)
		}
		now += rng.Int64N(1e15)
	}
	for tenth, n := range refreshes {
		if n < 200 {
			t.Errorf("%d refreshes in tenth %d of their time: %v", n, tenth, refreshes)
		}
	}
}

// TestRematchForgetsPaths: of a flow that knows more paths than its watch is to know from now on.
func TestRematchForgetsPaths(t *testing.T) {
	d := New([]Policy{{Events: 1 << PathChange, Thresholds: Thresholds{Paths: 1}}, {Events: 1 << PathChange, Thresholds: Thresholds{Paths: 4}}}, 7)
	for watch, want := range []uint8{1, 3} {
		f := flows.Flow{NumPaths: 3, Watch: uint8(watch)}
		if d.Rematch(1e9, &f); f.NumPaths != want {
			t.Errorf("watch %d: %d paths, want %d", watch, f.NumPaths, want)
		}
	}
}
