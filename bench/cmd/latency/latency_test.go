package main

import (
	"strings"
	"testing"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
)

func TestLatencyLine(t *testing.T) {
	m := &measurement{slices: 40, undisturbed: 30, Result: generator.Result{Seconds: 2, Offered: 2_000_000, Received: 1_999_000, LateReads: 19990}}
	for range 999 {
		m.Latency.Add(5000)
	}
	m.Latency.Add(2_000_000)
	m.counters = dut.Counters{Received: 1, LongGaps: [3]float64{2, 1, 0}}
	got := strings.Join(m.latencyLine("x", "50"), "|")
	if want := "x|50 %|1.00|5.1|5.1|5.1|2000.0|0.0500 %|2|1|0|1.00 %|75 %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.counters, m.undisturbed = dut.Counters{}, 0
	if got := m.latencyLine("testpmd", "1"); got[8] != "-" || got[12] != "none" {
		t.Errorf("%v", got)
	}
}
