package eal

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestNanotimeIsUnixTimeAndDoesNotGoBack(t *testing.T) {
	before := time.Now().UnixNano()
	last := Nanotime()
	for range 10000 {
		now := Nanotime()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
	// The wall clock may be slewed or stepped meanwhile, by less than a minute.
	if d := time.Duration(last - before); d < -time.Minute || d > time.Minute {
		t.Errorf("%v away from the wall clock", d)
	}
}

func BenchmarkNanotime(b *testing.B) {
	for b.Loop() {
		Nanotime()
	}
}

// TestWallClockFollowsSteps: forwards, backwards, and not what an interrupted reading shows.
func TestWallClockFollowsSteps(t *testing.T) {
	var own, step, late int64
	reading := 0
	c := NewWallClock(func() (int64, int64) {
		own += 100
		reading++
		if reading%5 != 0 {
			return own + step + late, own
		}
		return own + step, own
	})
	for _, x := range []struct {
		name             string
		step, late, want int64
	}{
		{"none yet", 0, 0, 0}, {"an hour forwards", 3600e9, 0, 3600e9}, {"the same", 3600e9, 0, 3600e9}, {"interrupted readings", 3600e9, 5e6, 3600e9},
		{"noise", 3600e9 + 999, 0, 3600e9}, {"a leap second", 3599e9, 0, 3599e9}, {"backwards", -40e9, 0, -40e9}, {"a microsecond", -40e9 + 1000, 0, -40e9 + 1000},
		{"with interrupted readings", 7e9, 3e6, 7e9}, {"back", 0, 0, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if step, late = x.step, x.late; late == 0 {
				reading = 0
			}
			c.Renew()
			if got := c.Offset(); got != x.want {
				t.Errorf("offset %d, want %d", got, x.want)
			}
		})
	}
}

// TestWallClockOfTheProcess: without a step since the start there is next to no offset.
func TestWallClockOfTheProcess(t *testing.T) {
	if d := time.Duration(NewWallClock(nil).Offset()); d < -time.Minute || d > time.Minute {
		t.Errorf("offset %v", d)
	}
}

// TestSleepIsShort: of many sleeps of 50 us a quarter take less than half a millisecond, on a
// machine with other work, too; of time.Sleep hardly one takes less than a whole one.
func TestSleepIsShort(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := SharpenSleep(); err != nil {
		t.Fatal(err)
	}
	const d = 50 * time.Microsecond
	for end := time.Now().Add(time.Minute); ; {
		var took []time.Duration
		for range 501 {
			start := time.Now()
			Sleep(d)
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		quarter := took[len(took)/4]
		if quarter >= d/2 && quarter <= 10*d {
			return
		}
		if time.Now().After(end) { // or other work had the CPUs all this time
			t.Fatalf("a quarter of the sleeps of %v take up to %v (all: %v to %v)", d, quarter, took[0], took[len(took)-1])
		}
	}
}
