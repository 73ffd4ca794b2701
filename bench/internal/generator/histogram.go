package generator

import (
	"math"
	"math/bits"
)

// Histogram counts durations in nanoseconds, in buckets at most 1/128 wide.
type Histogram struct {
	buckets [Buckets]uint64
	n       uint64
	max     int64
}

// Buckets is the number of buckets of a Histogram.
const Buckets = (64 - fine) << fine

const (
	fine  = 7               // each power of two has 1<<fine buckets
	exact = 1 << (fine + 1) // smaller durations have a bucket each
)

// Add counts one duration; negative ones count as 0.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	h.buckets[bucketOf(uint64(ns))]++
	h.n++
	h.max = max(h.max, ns)
}

func bucketOf(v uint64) int {
	if v < exact {
		return int(v)
	}
	e := bits.Len64(v) - fine - 1
	return e<<fine + int(v>>e)
}

// Upper returns the largest duration that bucket i counts.
func Upper(i int) int64 {
	if i < exact {
		return int64(i)
	}
	e := i>>fine - 1
	return int64(i-e<<fine+1)<<e - 1
}

// Top is one more than the last bucket that counted one.
func (h *Histogram) Top() int {
	if h.n == 0 {
		return 0
	}
	return bucketOf(uint64(h.max)) + 1
}

// Bucket returns how many durations bucket i counts.
func (h *Histogram) Bucket(i int) uint64 { return h.buckets[i] }

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// N returns how many durations were counted.
func (h *Histogram) N() uint64 { return h.n }

// Max returns the longest one.
func (h *Histogram) Max() int64 { return h.max }

// Quantile returns the duration that a share q of them does not exceed, at most 1/128 too long; 0
// of an empty histogram.
func (h *Histogram) Quantile(q float64) int64 {
	rank, sum := uint64(math.Ceil(q*float64(h.n))), uint64(0)
	for i, n := range h.buckets {
		if sum += n; n > 0 && sum >= rank {
			return min(Upper(i), h.max)
		}
	}
	return 0
}
