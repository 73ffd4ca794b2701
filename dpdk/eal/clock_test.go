package eal

import (
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
