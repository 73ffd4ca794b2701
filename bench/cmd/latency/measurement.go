package main

import (
	"errors"
	"fmt"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/lab"
)

// measurement is what one program showed under one load: the slices of it in which
// the worker kept its CPU or, where there are none, all.
type measurement struct {
	generator.Result
	thread              dut.Thread   // of the worker
	counters            dut.Counters // of intsink
	slices, undisturbed int
	times               int // that a disturbance came
}

// add merges a slice.
func (m *measurement) add(r *generator.Result, t dut.Thread, c dut.Counters) {
	m.Result.Merge(r)
	m.thread, m.counters = m.thread.Sum(t), m.counters.Sum(c)
}

// measure offers a part of the capacity. Meanwhile, if not nil, disturbs intsink.
func (s *session) measure(p lab.Program, percent float64, meanwhile disturbance) (*measurement, error) {
	m := &measurement{}
	pps := s.capacity * percent / 100
	err := s.lab.With(p, func(d dut.DUT) error {
		if _, err := s.lab.Generator.Run(s.load(pps, s.options.settle)); err != nil {
			return err
		}
		end := func() error { return nil }
		if intsink, ok := d.(*dut.Intsink); ok && meanwhile != nil {
			end = begin(meanwhile, intsink, &m.times)
		}
		err := s.observe(d, pps, m)
		return errors.Join(err, end())
	})
	return m, err
}

// slice is short enough that some pass undisturbed on a busy machine.
const slice = 50 * time.Millisecond

// observe measures d, which runs and is warm.
func (s *session) observe(d dut.DUT, pps float64, m *measurement) error {
	var disturbed measurement
	for m.slices = 0; time.Duration(m.slices)*slice < s.options.seconds; m.slices++ {
		start := time.Now()
		r, thread, counters, err := s.observeSlice(d, pps)
		if err != nil {
			return err
		}
		if ran := time.Duration(thread.RunNs); thread.Involuntary == 0 && ran > time.Since(start)*8/10 {
			m.undisturbed++
			m.add(r, thread, counters)
		} else {
			disturbed.add(r, thread, counters)
		}
	}
	if m.undisturbed == 0 {
		m.Result, m.thread, m.counters = disturbed.Result, disturbed.thread, disturbed.counters
	}
	return nil
}

func (s *session) observeSlice(d dut.DUT, pps float64) (*generator.Result, dut.Thread, dut.Counters, error) {
	var none dut.Counters
	before, err := d.Read()
	if err != nil {
		return nil, dut.Thread{}, none, err
	}
	thread, err := dut.Worker(d.PID(), s.lab.Setup.Lcores[0])
	if err != nil {
		return nil, thread, none, err
	}
	load := s.load(pps, slice)
	load.Quiet = 5 * time.Millisecond
	r, err := s.lab.Generator.Run(load)
	if err != nil {
		return nil, thread, none, err
	}
	now, err := dut.ReadThread(d.PID(), thread.TID)
	if err != nil {
		return nil, thread, none, err
	}
	after, err := d.Read()
	return r, now.Since(thread), after.Counters.Since(before.Counters), err
}

func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }

func (m *measurement) latencyLine(title, load string) []string {
	h := &m.Latency
	line := []string{
		title, load + " %", fmt.Sprintf("%.2f", m.Rate()/1e6), micros(h.Quantile(0.5)), micros(h.Quantile(0.99)), micros(h.Quantile(0.999)), micros(h.Max()),
		fmt.Sprintf("%.4f %%", 100*float64(m.Lost())/float64(m.Offered)),
	}
	for _, n := range m.counters.LongGaps {
		if m.counters.Received > 0 {
			line = append(line, fmt.Sprintf("%.0f", n))
		} else {
			line = append(line, "-") // testpmd does not tell
		}
	}
	return append(line, fmt.Sprintf("%.2f %%", 100*float64(m.LateReads)/float64(max(m.Received, 1))), m.kept())
}

// kept is the part of the time that was measured undisturbed.
func (m *measurement) kept() string {
	if m.undisturbed == 0 {
		return "none"
	}
	return fmt.Sprintf("%d %%", 100*m.undisturbed/m.slices)
}
