package main

import (
	"fmt"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/lab"
	"intsink/bench/internal/results"
)

// measurement is what one program showed under one load: the slices of it in which
// the worker kept its CPU or, where there are none, all.
type measurement struct {
	generator.Result
	thread              dut.Thread   // of the worker
	counters            dut.Counters // of intsink
	slices, undisturbed int
}

// add merges a slice.
func (m *measurement) add(r *generator.Result, t dut.Thread, c dut.Counters) {
	m.Result.Merge(r)
	m.thread, m.counters = m.thread.Sum(t), m.counters.Sum(c)
}

// measure offers a part of the capacity. Meanwhile, if not nil, runs until its
// channel is closed.
func (s *session) measure(p lab.Program, percent float64, meanwhile func(*dut.Intsink, <-chan struct{})) (*measurement, error) {
	m := &measurement{}
	pps := s.capacity * percent / 100
	err := s.lab.With(p, func(d dut.DUT) error {
		if _, err := s.lab.Generator.Run(s.load(pps, s.options.settle)); err != nil {
			return err
		}
		if intsink, ok := d.(*dut.Intsink); ok && meanwhile != nil {
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				meanwhile(intsink, stop)
				close(ended)
			}()
			defer func() {
				close(stop)
				<-ended
			}()
		}
		return s.observe(d, pps, m)
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
		disturbed.slices = m.slices
		*m = disturbed
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

// cause is a way to run intsink that takes one disturbance away, or brings it.
type cause struct {
	title     string
	env       []string
	meanwhile func(*dut.Intsink, <-chan struct{})
}

var theCauses = []cause{
	{title: "as it is"},
	{title: "no garbage collection (GOGC=off)", env: []string{"GOGC=off"}},
	{title: "garbage collected 10 times a second", meanwhile: collect},
	{title: "no preemption by signals (asyncpreemptoff=1)", env: []string{"GODEBUG=asyncpreemptoff=1"}},
}

// collect makes intsink collect its garbage, whole, 10 times a second.
func collect(p *dut.Intsink, stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			p.Profile("heap?gc=1") // a fault shows in the counters that are read next
		}
	}
}

// causes measures intsink at half load with each.
func (s *session) causes() (string, error) {
	p, err := lab.Pick("intsink")
	if err != nil {
		return "", err
	}
	cells := [][]string{{"intsink at 50 %", "p50", "p99", "p99.9", "max", "gaps ≥100µs", "≥1ms", "yields/s", "page faults/s", "undisturbed"}}
	for _, c := range theCauses {
		p.Env, p.Profiles = c.env, true
		m, err := s.measure(p, 50, c.meanwhile)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.title, err)
		}
		h := &m.Latency
		perSecond := func(n uint64) string { return fmt.Sprintf("%.1f", float64(n)/m.Seconds) }
		cells = append(cells, []string{
			c.title, micros(h.Quantile(0.5)), micros(h.Quantile(0.99)), micros(h.Quantile(0.999)), micros(h.Max()),
			fmt.Sprintf("%.0f", m.counters.LongGaps[0]), fmt.Sprintf("%.0f", m.counters.LongGaps[1]),
			perSecond(m.thread.Voluntary), perSecond(m.thread.MinorFaults + m.thread.MajorFaults), m.kept(),
		})
		fmt.Println(cells[len(cells)-1])
	}
	return results.Table(cells) + "\nyields: times that the worker's thread gave its CPU back by itself.\n", nil
}
