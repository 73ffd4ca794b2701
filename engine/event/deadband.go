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

// tooSoon tells whether sent, in microseconds and never zero once there was one,
// is less than Interval ago.
func (b *Deadband) tooSoon(now int64, sent uint32) bool {
	return sent != 0 && int64(micros(now)-sent)*1000 < b.Interval
}

// micros is a time in microseconds, which wraps after 71 minutes and is odd: never
// the zero of "never".
func micros(now int64) uint32 { return uint32(now/1000) | 1 }
