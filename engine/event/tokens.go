// Rate tokens, and random numbers.

package event

import "math/bits"

// partOf returns a part of span, as large as random is among all numbers.
func partOf(span, random uint64) int64 {
	n, _ := bits.Mul64(random, span)
	return int64(n)
}

// nextRandom returns the random number after x: xorshift64, Marsaglia 2003.
func nextRandom(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	return x
}

// tokens is a bucket one second deep, full at start.
type tokens struct {
	left int64 // in units of a token
	last int64
	used bool
}

const token = 1e9 // nanoseconds of a rate of one

func (b *tokens) take(now int64, rate int) bool {
	if rate == 0 {
		return true
	}
	full := int64(rate) * token
	if !b.used {
		b.left, b.used = full, true
	} else {
		b.left = min(full, b.left+min(max(now-b.last, 0), token)*int64(rate))
	}
	b.last = now
	if b.left < token {
		return false
	}
	b.left -= token
	return true
}
