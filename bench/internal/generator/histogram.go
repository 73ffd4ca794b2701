package generator

import (
	"math"
	"math/bits"
)

// Histogram counts durations in nanoseconds, in buckets at most 1/32 wide.
type Histogram struct {
	buckets [60 * 32]uint64
	n       uint64
	max     int64
}

// Add counts one duration; negative ones count as 0.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	h.buckets[bucketOf(uint64(ns))]++
	h.n++
	h.max = max(h.max, ns)
}

func bucketOf(v uint64) int {
	if v < 64 {
		return int(v)
	}
	e := bits.Len64(v) - 6
	return e*32 + int(v>>e)
}

// upper is the largest duration that bucket i counts.
func upper(i int) int64 {
	if i < 64 {
		return int64(i)
	}
	e := i/32 - 1
	return int64(i-e*32+1)<<e - 1
}

// Merge adds what o counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// N is how many durations were counted.
func (h *Histogram) N() uint64 { return h.n }

// Max is the longest one.
func (h *Histogram) Max() int64 { return h.max }

// Quantile is the duration that a share q of them does not exceed, at most 1/32
// too long; 0 of an empty histogram.
func (h *Histogram) Quantile(q float64) int64 {
	rank, sum := uint64(math.Ceil(q*float64(h.n))), uint64(0)
	for i, n := range h.buckets {
		if sum += n; n > 0 && sum >= rank {
			return min(upper(i), h.max)
		}
	}
	return 0
}
