package event

import "math/bits"

// Deadband tells noise from news: a value is out of it when it differs from the
// one last reported by more than Absolute and more than Relative of that; it is
// news when K of the last N values were.
type Deadband struct {
	Absolute uint32 // nanoseconds
	Relative float64
	K, N     int   // N at most 8
	Interval int64 // nanoseconds between two reports
}

// test returns the window after value x, whose reference is ref, and whether the
// event enters: K of the last N values are out, this one included.
func (b *Deadband) test(ref, x uint32, window uint8) (uint8, bool) {
	delta := x - ref
	if x < ref {
		delta = ref - x
	}
	window <<= 1
	if delta <= b.Absolute || float64(delta) <= b.Relative*float64(ref) {
		return window, false
	}
	window |= 1
	return window, bits.OnesCount8(window&(1<<b.N-1)) >= b.K
}

// tooSoon reports whether sent, 0 where there was no report yet, is less than Interval ago.
func (b *Deadband) tooSoon(now, sent int64) bool { return sent != 0 && now-sent < b.Interval }
