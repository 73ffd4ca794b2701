package main

import (
	"fmt"
	"math"

	"intsink/bench/internal/results"
)

// figure is a row of what two conditions are compared by.
type figure struct {
	title      string
	statistic  statistic
	scale      float64 // what is printed of 1
	difference bool    // compared by difference, not by ratio
}

// figures are those that are printed for each condition.
func figures() []figure {
	turns := func(s *sample) float64 { return s.turns }
	received := func(s *sample) float64 { return s.received }
	elapsed := func(s *sample) float64 { return s.elapsed }
	per := func(part, whole func(*sample) float64) statistic { return share(part, whole) }
	return []figure{
		{"p50, us", pooled(0.5, steady), 1e-3, false},
		{"p99, us", pooled(0.99, steady), 1e-3, false},
		{"p99.9, us", pooled(0.999, steady), 1e-3, false},
		{"p99.9 of a slice, median, us", typical(0.999, steady), 1e-3, false},
		{"p99.9 with stalled turns, us", pooled(0.999, all), 1e-3, false},
		{"turns stalled, %", per(func(s *sample) float64 { return s.stalled }, turns), 100, true},
		{"frames left out, %", per(func(s *sample) float64 { return s.late }, received), 100, true},
		{"gaps ≥ 100us, a second", per(func(s *sample) float64 { return s.gaps }, elapsed), 1, true},
		{"yields, a second", per(func(s *sample) float64 { return s.yields }, elapsed), 1, true},
		{"others on the CPU, ms a second", per(func(s *sample) float64 { return s.waited }, elapsed), 1000, true},
		{"times a second", per(func(s *sample) float64 { return s.times }, elapsed), 1, true},
	}
}

// table is what r shows.
func (r rounds) table(first, second string) string {
	cells := [][]string{{"", first, second, "change", "95 % interval"}}
	for _, f := range figures() {
		cells = append(cells, f.line(r.compare(f.statistic, f.difference)))
	}
	return results.Table(cells)
}

// line is the row of f: percent of a ratio, the unit of a difference.
func (f *figure) line(c change) []string {
	number := func(format string, x float64) string {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "-"
		}
		return fmt.Sprintf(format, x)
	}
	scale, format := f.scale, "%+.3f"
	if !f.difference {
		format = "%+.1f %%"
		scale, c.value, c.low, c.high = 100, c.value-1, c.low-1, c.high-1
	}
	return []string{
		f.title, number("%.3f", c.of[0]*f.scale), number("%.3f", c.of[1]*f.scale),
		number(format, c.value*scale), number(format, c.low*scale) + " to " + number(format, c.high*scale),
	}
}

const turnsLegend = `
quiet: nothing asks anything. 95 % interval: by a bootstrap of whole rounds; where it is on both sides of 0, nothing is shown but that the change lies in it. turns stalled: parts of a slice
(1 ms) with a frame of 50 us or more; p50 to p99.9 are without them, by the same rule in all conditions, and "p99.9 with stalled turns" is with all. frames left out: they were under way
when the generator looked away for 5 us. gaps: between two polls of the worker, in all of the slice (intsink_long_poll_gaps_total). yields: times that the worker's thread waited for another
one to give it its goroutine back. others on the CPU: time that the worker waited for its CPU. "quiet again": every second of the quiet slices against the others, which differ
by chance alone.
`
