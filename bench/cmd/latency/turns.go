package main

import (
	"fmt"
	"slices"

	"intsink/bench/internal/lab"
	"intsink/bench/internal/results"
)

// inTurns measures intsink at half load as it is and while it is watched, in turns, so that
// what the machine does besides meets both alike; and prints each round and the medians.
func (s *session) inTurns(rounds int) error {
	p, err := lab.Pick("intsink")
	if err != nil {
		return err
	}
	cells := [][]string{{"round", "p50", "p99", "p99.9", "p50 watched", "p99 watched", "p99.9 watched", "undisturbed"}}
	var all [6][]int64
	for round := range rounds {
		row, kept := []string{fmt.Sprint(round + 1)}, ""
		for i, meanwhile := range []disturbance{nil, watched} {
			m, err := s.measure(p, 50, meanwhile)
			if err != nil {
				return err
			}
			for q, quantile := range []float64{0.5, 0.99, 0.999} {
				ns := m.Latency.Quantile(quantile)
				all[3*i+q] = append(all[3*i+q], ns)
				row = append(row, micros(ns))
			}
			kept += " " + m.kept()
		}
		cells = append(cells, append(row, kept))
		fmt.Println(cells[len(cells)-1])
	}
	median := []string{"median"}
	for _, values := range all {
		slices.Sort(values)
		median = append(median, micros(values[len(values)/2]))
	}
	fmt.Print("\n" + results.Table(append(cells, append(median, ""))))
	return nil
}
