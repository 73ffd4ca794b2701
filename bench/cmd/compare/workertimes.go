package main

import (
	"fmt"
	"slices"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/results"
)

// times are seconds of CPU time, by worker.
type times []float64

func (t times) since(before times) times {
	all := slices.Clone(t)
	for w := range all {
		all[w] -= before[w]
	}
	return all
}

func (t times) sum() (sum float64) {
	for _, s := range t {
		sum += s
	}
	return sum
}

// between returns the middle of both, for each worker.
func between(a, b times) times {
	all := slices.Clone(a)
	for w := range all {
		all[w] += (b[w] - a[w]) / 2
	}
	return all
}

// ratesOf returns the sum of the rates of two workers, each by its own CPU time.
func ratesOf(d *dut.Counters, ran times) float64 {
	return d.Worked[0]/ran[0] + d.Worked[1]/ran[1]
}

// scaling tells how many times the rate of one worker two have.
func scaling(rows []*row, s *session) string {
	one, two := named(rows, referenceName), named(rows, "workers2")
	if one == nil || two == nil {
		return ""
	}
	text := fmt.Sprintf("two workers to one: %v; testpmd io: %v",
		results.SpreadOf(two.each(one, rate, quotient)), results.SpreadOf(two.base.each(one.base, rate, quotient)))
	if s.lcores[1] == s.Control {
		text += "; the second one shares its CPU, and its caches, with everything else"
	}
	return text + "\n"
}
