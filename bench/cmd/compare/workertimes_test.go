package main

import (
	"testing"

	"intsink/bench/internal/dut"
)

func TestRatesOf(t *testing.T) {
	if got := ratesOf(&dut.Counters{Worked: [2]float64{20, 8}}, times{2, 1}); got != 18 {
		t.Errorf("two workers, one with half the CPU time of the other: %v, want 18", got)
	}
}

func TestScaling(t *testing.T) {
	rows := plan([]task{{name: referenceName}, {name: "workers2", workers: 2}}, nil, "")
	for i, mpps := range []float64{40, 20, 80, 39} {
		rows[i].runs = []outcome{{rate: mpps * 1e6}}
	}
	if got, want := scaling(rows, &session{lcores: []int{1, 2}}), "two workers to one: 1.95 (1.95-1.95); testpmd io: 2.00 (2.00-2.00)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := scaling(rows[:0], nil); got != "" {
		t.Errorf("without rows: %q", got)
	}
}
