package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"intsink/bench/internal/generator"
)

// sample is what one slice under one condition showed.
type sample struct {
	all, steady generator.Histogram // latency in all turns, and in those without a stall
	seconds     float64             // that latency is of
	elapsed     float64             // seconds from the slice's beginning to its end
	turns       float64
	stalled     float64 // turns with a frame that took rhythm.Stall or longer, or was lost
	received    float64 // frames
	late        float64 // frames left out since the generator had looked away
	gaps        float64 // between polls of the worker, of 100 us or more
	yields      float64 // times that the worker's thread gave its CPU back by itself
	waited      float64 // seconds in which others had the worker's CPU
	times       float64 // that the condition did what it does
}

// rounds are slices of two conditions: those at the same place were measured soon after each other.
type rounds [2][]*sample

// statistic computes one figure from the slices of a condition. Slice i counts weights[i] times.
type statistic func(of []*sample, weights []int) float64

// change compares a statistic under two conditions. of has both figures. value is the second
// divided by the first or, if a difference was asked for, the second minus the first. 95 % of the
// draws lie between low and high.
type change struct {
	of               [2]float64
	value, low, high float64
}

// resamples is how often compare draws.
const resamples = 1000

// compare is a bootstrap of whole rounds: what the machine did in a round met both of its
// slices, and frames of one slice do not vary independently of each other.
func (r rounds) compare(f statistic, difference bool) (c change) {
	weights := make([]int, len(r[0]))
	figures := func() (of [2]float64, value float64) {
		of = [2]float64{f(r[0], weights), f(r[1], weights)}
		if difference {
			return of, of[1] - of[0]
		}
		return of, of[1] / of[0]
	}
	for i := range weights {
		weights[i] = 1
	}
	c.of, c.value = figures()
	random := rand.New(rand.NewPCG(1, 2)) // the same draws for each statistic, and in each run
	var drawn []float64
	for range resamples {
		clear(weights)
		for range weights {
			weights[random.IntN(len(weights))]++
		}
		if _, value := figures(); !math.IsNaN(value) {
			drawn = append(drawn, value)
		}
	}
	slices.Sort(drawn)
	c.low, c.high = math.NaN(), math.NaN()
	if n := len(drawn); n > 0 {
		c.low, c.high = drawn[n*25/1000], drawn[n*975/1000]
	}
	return c
}

// Which histogram of a sample a quantile is of.
func all(s *sample) *generator.Histogram    { return &s.all }
func steady(s *sample) *generator.Histogram { return &s.steady }

// pooled is a quantile of the frames of all slices, in nanoseconds; NaN where there are none.
func pooled(q float64, histogram func(*sample) *generator.Histogram) statistic {
	return func(of []*sample, weights []int) float64 {
		var sum [generator.Buckets]uint64
		total, top := uint64(0), 0
		for i, s := range of {
			h, w := histogram(s), uint64(weights[i])
			if w == 0 {
				continue
			}
			total += w * h.N()
			top = max(top, h.Top())
			for b := range h.Top() {
				sum[b] += w * h.Bucket(b)
			}
		}
		rank, below := uint64(math.Ceil(q*float64(total))), uint64(0)
		for b, n := range sum[:top] {
			if below += n; n > 0 && below >= rank {
				return float64(generator.Upper(b))
			}
		}
		return math.NaN()
	}
}

// typical is the median over the slices of a quantile of each.
func typical(q float64, histogram func(*sample) *generator.Histogram) statistic {
	return func(of []*sample, weights []int) float64 {
		var values []float64
		for i, s := range of {
			if h := histogram(s); h.N() > 0 {
				values = append(values, slices.Repeat([]float64{float64(h.Quantile(q))}, weights[i])...)
			}
		}
		if len(values) == 0 {
			return math.NaN()
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
}

// share divides the sum of part over the slices by the sum of whole.
func share(part, whole func(*sample) float64) statistic {
	return func(of []*sample, weights []int) float64 {
		var a, b float64
		for i, s := range of {
			a += float64(weights[i]) * part(s)
			b += float64(weights[i]) * whole(s)
		}
		return a / b
	}
}
