// Histogram: counts times in classes that are the same everywhere.

// Package histogram counts times in fixed classes, for Prometheus: a Histogram belongs to one
// goroutine, an Atomic may be read by any.
package histogram

import (
	"math/bits"
	"sync/atomic"
)

// Bounds are the upper ends of the classes, in nanoseconds: 1, 2 and 5 times each power of ten
// from a microsecond to ten seconds. One more class counts times beyond them.
var Bounds = [...]int64{
	1e3, 2e3, 5e3, 10e3, 20e3, 50e3, 100e3, 200e3, 500e3,
	1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6,
	1e9, 2e9, 5e9, 10e9,
}

// Histogram counts times: Classes[i] counts those that are at most Bounds[i] and more than the
// bound before it.
type Histogram struct {
	Classes [len(Bounds) + 1]uint64
	Sum     uint64 // of all times, nanoseconds
}

// Observe counts a time of ns nanoseconds. A negative one is not counted.
func (h *Histogram) Observe(ns int64) {
	ns = max(ns, 0)
	h.Classes[classOf(ns)]++
	h.Sum += uint64(ns)
}

// Add adds o to h.
func (h *Histogram) Add(o *Histogram) {
	for i, n := range o.Classes {
		h.Classes[i] += n
	}
	h.Sum += o.Sum
}

// Atomic is a Histogram that one goroutine counts in and others read.
type Atomic struct {
	classes [len(Bounds) + 1]atomic.Uint64
	sum     atomic.Uint64
}

// Observe counts a time as Histogram.Observe does.
func (h *Atomic) Observe(ns int64) {
	ns = max(ns, 0)
	h.classes[classOf(ns)].Add(1)
	h.sum.Add(uint64(ns))
}

// Read returns the counts of this moment.
func (h *Atomic) Read() (out Histogram) {
	for i := range h.classes {
		out.Classes[i] = h.classes[i].Load()
	}
	out.Sum = h.sum.Load()
	return out
}

// from has, for each number of bits, the first class that a time of so many bits may be in.
var from = func() (first [65]uint8) {
	for n := range first {
		for n > 0 && int(first[n]) < len(Bounds) && Bounds[first[n]] < 1<<(n-1) {
			first[n]++
		}
	}
	return first
}()

func classOf(ns int64) int {
	i := int(from[bits.Len64(uint64(ns))])
	for i < len(Bounds) && ns > Bounds[i] {
		i++
	}
	return i
}
