package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"intsink/bench/internal/dut"
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
	setup.Profiles = s.profile != ""
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
	if err := untilAllSeen(p, r); err != nil {
		return outcome{}, err
	}
	before, waited, err := s.read(p, r)
	if err != nil {
		return outcome{}, err
	}
	counted, err := s.spend(p)
	if err != nil {
		return outcome{}, err
	}
	after, waitedThen, err := s.read(p, r)
	if err != nil {
		return outcome{}, err
	}
	packets := after.Forwarded - before.Forwarded
	if packets <= 0 {
		return outcome{}, errors.New("forwards nothing")
	}
	elapsed := after.At.Sub(before.At)
	waited = min((waitedThen-waited)/time.Duration(r.workers), elapsed*99/100)
	result = outcome{rate: packets / (elapsed - waited).Seconds(), kept: 1 - waited.Seconds()/elapsed.Seconds(), counted: dut.Counts{}}
	for event, perSecond := range counted {
		result.counted[event] = perSecond / (packets / elapsed.Seconds())
	}
	if r.mode == "" {
		d := after.Counters.Since(before.Counters)
		result.allocs, result.cgoCalls = d.Mallocs/packets, d.CgoCalls/packets
		err = d.Check(!r.task.plain)
		if err == nil && d.Evictions != 0 && !r.task.flood {
			err = fmt.Errorf("%.0f flows were evicted: the table is too small for the input", d.Evictions)
		}
	}
	return result, err
}

// read returns what was counted so far, and how long the workers had to wait for
// their CPUs because others had them: that is not the program's time.
func (s *session) read(p dut.DUT, r *row) (reading dut.Reading, waited time.Duration, err error) {
	for _, lcore := range s.lcores[:r.workers] {
		worker, err := dut.Worker(p.PID(), lcore)
		if err != nil {
			return reading, 0, err
		}
		waited += time.Duration(worker.WaitNs)
	}
	reading, err = p.Read()
	return reading, waited, err
}

// untilAllSeen waits until the whole capture was played twice: all its flows are
// known, all its pages are there.
func untilAllSeen(p dut.DUT, r *row) error {
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if now, err := p.Read(); err != nil || now.Forwarded >= float64(2*r.workers*r.spec.Frames) {
			return err
		}
		if time.Since(start) > time.Minute {
			return errors.New("it does not get through the capture twice in a minute")
		}
	}
}

// spend lets the measured interval pass, and returns what the hardware counts in
// a second of it in the first worker, if it does.
func (s *session) spend(p dut.DUT) (perSecond dut.Counts, err error) {
	if intsink, ok := p.(*dut.Intsink); ok && s.profile != "" {
		b, err := intsink.Profile(fmt.Sprintf("profile?seconds=%.0f", max(1, s.measure.Seconds())))
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
// bench/cmd/instructions, which that program counts on any machine.
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
