package mitigate

import (
	"sync"
	"sync/atomic"
	"testing"

	"intsink/engine/selector"
)

// TestPoliceIsShared: what several workers let pass together is the rate and its burst.
func TestPoliceIsShared(t *testing.T) {
	const bits, packet, workers = 8e6, 1000, 4 // a packet takes 1 ms
	r := NewRule(1, selector.Match{}, Police, bits, 5, 1e18, workers)
	var now, passed atomic.Int64
	now.Store(5)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for range 25_000 {
				r.Count(w, 1, packet)
				if !r.Wants(now.Add(10_000), packet) {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait() // 1 s, 1000 packets, and 100 of the burst
	if n := passed.Load(); n < 1095 || n > 1102 {
		t.Errorf("%d packets passed, want 1000 and a burst of 100", n)
	}
	if c := r.Counters(); c.Packets != 100_000 || c.Bytes != 100_000*packet {
		t.Errorf("counted %+v", c)
	}
}

// TestPoliceAtItsBounds: rates that are as low and as high as they may be, frames as long,
// and times as late.
func TestPoliceAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		bits   uint64
		bytes  int
		gap    int64
		passed int // of 1000 packets, one per gap
	}{
		{"lowest rate, longest frame", MinRate, 65535, 1e9, 2}, // 524 s each
		{"lowest rate, shortest frame", MinRate, 60, 480e6, 1000},
		{"highest rate", MaxRate, 64, 2, 1000},
		{"half of a rate", 1e9, 1250, 5000, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p police
			p.init(c.bits, 7)
			passed := 0
			for i := range int64(1000) {
				if p.take(int64(MaxLife)-1000*c.gap+i*c.gap, c.bytes) {
					passed++
				}
			}
			if passed != c.passed {
				t.Errorf("%d passed, want %d", passed, c.passed)
			}
		})
	}
	var none police
	if none.take(1, 1) {
		t.Error("without a rate something passes")
	}
}
