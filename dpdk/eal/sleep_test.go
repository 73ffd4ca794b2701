package eal

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestSleepIsShort: 50 us take less than half a millisecond, by the median of many, on a
// machine with other work, too; time.Sleep takes more than a whole one.
func TestSleepIsShort(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := SharpenSleep(); err != nil {
		t.Fatal(err)
	}
	const d = 50 * time.Microsecond
	var took []time.Duration
	for range 501 {
		start := time.Now()
		Sleep(d)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median < d/2 || median > 10*d {
		t.Errorf("a sleep of %v takes %v (%v to %v)", d, median, took[0], took[len(took)-1])
	}
}
