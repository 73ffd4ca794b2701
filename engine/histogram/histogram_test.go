package histogram

import (
	"math"
	"testing"
)

// TestClasses: each bound is in the class that it ends, a nanosecond more in the next; the
// ends of all times are in the first and the last.
func TestClasses(t *testing.T) {
	for i, bound := range Bounds {
		if got := classOf(bound); got != i {
			t.Errorf("%d ns: class %d, want %d", bound, got, i)
		}
		if got := classOf(bound + 1); got != i+1 {
			t.Errorf("%d ns: class %d, want %d", bound+1, got, i+1)
		}
	}
	for ns, want := range map[int64]int{0: 0, 1: 0, 999: 0, math.MaxInt64: len(Bounds)} {
		if got := classOf(ns); got != want {
			t.Errorf("%d ns: class %d, want %d", ns, got, want)
		}
	}
}

func TestHistogram(t *testing.T) {
	var h, sum Histogram
	var a Atomic
	for _, ns := range []int64{-5, 1500, 1500, 20e9} {
		h.Observe(ns)
		a.Observe(ns)
	}
	want := Histogram{Sum: 20_000_003_000}
	want.Classes[0], want.Classes[1], want.Classes[len(Bounds)] = 1, 2, 1
	if h != want || a.Read() != want {
		t.Errorf("%+v and %+v, want %+v", h, a.Read(), want)
	}
	sum.Add(&h)
	sum.Add(&h)
	if sum.Classes[1] != 4 || sum.Sum != 2*want.Sum {
		t.Errorf("twice that is %+v", sum)
	}
}
