package main

import (
	"errors"
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
	if want := "x|50 %|1.00|5.0|5.0|5.0|2000.0|0.0500 %|2|1|0|1.00 %|75 %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.counters, m.undisturbed = dut.Counters{}, 0
	if got := m.latencyLine("testpmd", "1"); got[8] != "-" || got[12] != "none" {
		t.Errorf("%v", got)
	}
}

// A disturbance is repeated until it is ended, or fails.
func TestDisturbance(t *testing.T) {
	fault := errors.New("fault")
	failing := every(1, func(_ *dut.Intsink, n int) error {
		if n == 3 {
			return fault
		}
		return nil
	})
	if times, err := failing(t.Context(), nil); times != 3 || err != fault {
		t.Errorf("%d times, %v", times, err)
	}
	var times int
	second := make(chan struct{})
	end := begin(every(1, func(_ *dut.Intsink, n int) error {
		if n == 1 {
			close(second)
		}
		return nil
	}), nil, &times)
	<-second
	if err := end(); err != nil || times < 2 {
		t.Errorf("%d times, %v", times, err)
	}
}

func TestCauseLine(t *testing.T) {
	m := &measurement{slices: 4, times: 5, Result: generator.Result{Seconds: 2, Offered: 1000, Received: 999}}
	m.Latency.Add(5000)
	m.thread = dut.Thread{Voluntary: 3, MinorFaults: 1, MajorFaults: 1}
	for _, c := range []struct {
		cause
		want string
	}{
		{cause{title: "x"}, "x|-|5.0|5.0|5.0|5.0|0.1000 %|0|0|1.5|1.0|none"},
		{cause{title: "y", meanwhile: pages(1)}, "y|5|5.0|5.0|5.0|5.0|0.1000 %|0|0|1.5|1.0|none"},
	} {
		if got := strings.Join(m.causeLine(&c.cause), "|"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A page whose intsink answers with an error is a fault of the run.
func TestPageFault(t *testing.T) {
	if times, err := pages(2)(t.Context(), &dut.Intsink{}); err == nil {
		t.Errorf("%d times without an error", times)
	}
}
