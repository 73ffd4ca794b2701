package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"intsink/bench/dut"
)

// session is what all runs share.
type session struct {
	dut.Setup
	captures captures
	lcores   []int // of two workers; one takes the first
	warmup   time.Duration
	measure  time.Duration
	profile  string // where intsink's CPU profile goes; empty: none
	counts   bool   // this machine has hardware counters
}

// start starts the row's program on its input. Both have so many mbufs that the
// capture, which the driver keeps in mbufs of the pool, leaves the same number.
func (s *session) start(r *row) (dut.DUT, error) {
	setup := s.Setup
	setup.Lcores = s.lcores[:r.workers]
	setup.Network, setup.Host = dut.PcapLoop(s.captures[r.spec], r.workers), dut.Discard
	setup.Mbufs += r.workers * r.spec.Frames
	if s.Hugepages {
		if err := setup.ReserveHugepages(); err != nil {
			return nil, err
		}
	}
	if r.mode != "" {
		return dut.StartTestpmd(&setup, r.mode)
	}
	return dut.StartIntsink(&setup, r.task.dut)
}

// run measures one run.
func (s *session) run(r *row) (result outcome, err error) {
	p, err := s.start(r)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	time.Sleep(s.warmup)
	before, err := p.Read()
	if err != nil {
		return outcome{}, err
	}
	counted, err := s.spend(p)
	if err != nil {
		return outcome{}, err
	}
	after, err := p.Read()
	if err != nil {
		return outcome{}, err
	}
	packets := after.Forwarded - before.Forwarded
	if packets <= 0 {
		return outcome{}, errors.New("forwards nothing")
	}
	result = outcome{rate: packets / after.At.Sub(before.At).Seconds(), counted: dut.Counts{}}
	for event, perSecond := range counted {
		result.counted[event] = perSecond / result.rate
	}
	if r.mode == "" {
		d := after.Counters.Since(before.Counters)
		result.allocs, result.cgoCalls = d.Mallocs/packets, d.CgoCalls/packets
		err = d.Check(!r.task.plain)
		if err == nil && d.Evictions != 0 {
			err = fmt.Errorf("%.0f flows were evicted: the table is too small for the input", d.Evictions)
		}
	}
	return result, err
}

// spend lets the measured interval pass, and returns what the hardware counts in
// a second of it in the first worker, if it does.
func (s *session) spend(p dut.DUT) (perSecond dut.Counts, err error) {
	if intsink, ok := p.(*dut.Intsink); ok && s.profile != "" {
		b, err := intsink.Get(fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", max(1, s.measure.Seconds())))
		if err != nil {
			return nil, err
		}
		return nil, os.WriteFile(s.profile, b, 0o644)
	}
	if !s.counts {
		time.Sleep(s.measure)
		return nil, nil
	}
	worker, err := dut.Worker(p.PID(), s.lcores[0])
	if err != nil {
		return nil, err
	}
	counted := dut.CountEvents(worker.TID, s.measure)
	for event := range counted {
		counted[event] /= s.measure.Seconds()
	}
	return counted, nil
}

// stepped are the instructions per packet of the tasks, by row of
// bench/instructions, which that program counts on any machine.
func stepped(program string, rows []*row) (map[string]float64, error) {
	if program == "" {
		return nil, nil
	}
	var names []string
	for _, r := range rows {
		if n := r.task.instructions; n != "" && !strings.Contains(","+strings.Join(names, ",")+",", ","+n+",") {
			names = append(names, n)
		}
	}
	out, err := exec.Command(program, "-json", "-rows", strings.Join(names, ",")).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	counts := map[string]float64{}
	return counts, json.Unmarshal(out, &counts)
}
