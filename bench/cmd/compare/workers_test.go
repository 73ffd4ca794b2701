package main

import (
	"math"
	"strings"
	"testing"

	"intsink/bench/internal/dut"
)

func TestRatesOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		d        dut.Counters
		ran      times
		software bool
		want     float64
	}{
		{"each its own queue, half the CPU time", dut.Counters{Worked: [2]float64{20, 8}}, times{2, 1}, false, 18},
		{"the second does not keep up", dut.Counters{Worked: [2]float64{10, 20}, RingFull: 30, Busy: [2]float64{2, 2}}, times{2, 2}, true, 5 + 10},
		{"the second had less CPU time", dut.Counters{Worked: [2]float64{10, 20}, RingFull: 30, Busy: [2]float64{2, 1}}, times{2, 1}, true, 5 + 20},
		{"no more than is handed over", dut.Counters{Worked: [2]float64{10, 20}, RingFull: 30, Busy: [2]float64{2, 0.5}}, times{2, 0.5}, true, 5 + 25},
		{"the second waits for packets", dut.Counters{Worked: [2]float64{10, 20}, Busy: [2]float64{2, 0.5}}, times{2, 2}, true, 5 + 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s := ratesOf(&c.d, c.ran, c.software)
			if math.Abs(got-c.want) > 1e-9 || (s != nil) != c.software {
				t.Errorf("%v, %+v, want %v", got, s, c.want)
			}
		})
	}
}

func TestScaling(t *testing.T) {
	rows := plan([]task{{name: referenceName}, {name: "workers2", workers: 2}, {name: softwareName, workers: 2, dut: dut.Task{Software: true}}}, nil)
	if n := len(rows); n != 5 || rows[4].queues() != 1 || rows[3].queues() != 2 || rows[4].base != rows[2] || rows[2].queues() != 2 {
		t.Fatalf("%d rows; queues %d, %d", n, rows[3].queues(), rows[4].queues())
	}
	for i, mpps := range []float64{40, 20, 80, 39, 16} {
		rows[i].runs = []outcome{{rate: mpps * 1e6}}
	}
	rows[4].runs[0].software = &shared{kept: 4e6, handed: 16e6, took: 12e6, full: 0.25}
	got := scaling(rows, &session{lcores: []int{1, 2}})
	for _, want := range []string{
		"two workers to one: 1.95 (1.95-1.95); testpmd io: 2.00 (2.00-2.00)\n",
		"in software, to one: 0.80 (0.80-0.80); in its CPU time the first keeps 4.00 Mpps and hands 16.00 Mpps over (25 % found the ring full), the second takes 12.00 Mpps in its own: the second is the limit\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	rows[4].runs[0].software.took = 20e6
	if got := scaling(rows, &session{lcores: []int{1, 2}}); !strings.Contains(got, "the first, which receives, is the limit") {
		t.Errorf("%s", got)
	}
	if got := scaling(rows[:0], nil); got != "" {
		t.Errorf("without rows: %q", got)
	}
}
