package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
)

// session holds the values that all runs share.
type session struct {
	dut.Setup
	captures captures
	lcores   []int // of two workers; one takes the first
	warmup   time.Duration
	measure  time.Duration
	profile  string // where intsink's CPU profile goes; empty: none
	counts   bool   // this machine has hardware counters
}

// mbufs returns how many both programs have on r's input.
func (s *session) mbufs(r *row) int { return s.Mbufs + r.workers*r.spec.Frames }

// start starts the row's program on its input. Both have so many mbufs that the
// capture, which the driver keeps in mbufs of the pool, leaves the same number.
func (s *session) start(r *row) (dut.DUT, error) {
	setup := s.Setup
	setup.Profiles = s.profile != ""
	setup.Lcores = s.lcores[:r.workers]
	if r.program != "" {
		setup.Intsink = r.program
	}
	setup.Network, setup.Host = dut.PcapLoop(s.captures[r.spec], r.workers), dut.Discard
	setup.Mbufs = s.mbufs(r)
	if r.mode == openVswitch {
		return dut.StartOVS(&setup, traffic.UDPPort)
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
	before, err := s.read(p, r)
	if err != nil {
		return outcome{}, err
	}
	counted, err := s.spend(p, r)
	if err != nil {
		return outcome{}, err
	}
	after, err := s.read(p, r)
	if err != nil {
		return outcome{}, err
	}
	packets, ran := after.Forwarded-before.Forwarded, after.ran.since(before.ran)
	if packets <= 0 || ran.sum() <= 0 {
		return outcome{}, fmt.Errorf("forwards %.0f packets in %.3f s of CPU time", packets, ran.sum())
	}
	elapsed := after.At.Sub(before.At)
	result = outcome{rate: packets * float64(r.workers) / ran.sum(), kept: min(1, ran.sum()/elapsed.Seconds()/float64(r.workers)), counted: dut.Counts{}}
	for event, perSecond := range counted {
		result.counted[event] = perSecond / (packets / elapsed.Seconds())
	}
	if r.mode == "" {
		d := after.Counters.Since(before.Counters)
		result.allocs, result.cgoCalls = d.Mallocs/packets, d.CgoCalls/packets
		if r.workers == len(d.Worked) {
			result.rate = ratesOf(&d, ran)
		}
		err = d.Check(!r.task.plain)
		if err == nil && d.Evictions != 0 && !r.task.flood {
			err = fmt.Errorf("%.0f flows were evicted: the table is too small for the input", d.Evictions)
		}
	}
	return result, err
}

// reading holds the counters at one time.
type reading struct {
	dut.Reading
	ran times // CPU time of the workers' threads
}

// read reads the counters of p, and before and after that the CPU time of its workers.
func (s *session) read(p dut.DUT, r *row) (now reading, err error) {
	before, err := s.ran(p, r)
	if err != nil {
		return now, err
	}
	if now.Reading, err = p.Read(); err != nil {
		return now, err
	}
	after, err := s.ran(p, r)
	if err != nil {
		return now, err
	}
	now.ran = between(before, after)
	return now, nil
}

// ran returns the CPU time that each of the workers of p had.
func (s *session) ran(p dut.DUT, r *row) (all times, err error) {
	for _, lcore := range s.lcores[:r.workers] {
		worker, err := dut.Worker(p.PID(), lcore)
		if err != nil {
			return nil, err
		}
		all = append(all, float64(worker.RunNs)/1e9)
	}
	return all, nil
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
func (s *session) spend(p dut.DUT, r *row) (perSecond dut.Counts, err error) {
	if intsink, ok := p.(*dut.Intsink); ok && s.profile != "" {
		b, err := intsink.Profile(fmt.Sprintf("profile?seconds=%.0f", max(1, s.measure.Seconds())))
		if err != nil {
			return nil, err
		}
		return nil, os.WriteFile(s.profile, b, 0o644)
	}
	if !s.counts {
		return nil, s.untilRan(p, r)
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

// untilRan waits until the workers had their CPUs for the measured interval: longer
// where others have them, too, but three times as long at most.
func (s *session) untilRan(p dut.DUT, r *row) error {
	begin, err := s.ran(p, r)
	for start, ran := time.Now(), time.Duration(0); err == nil && ran < s.measure*9/10 && time.Since(start) < 3*s.measure; {
		time.Sleep(max(s.measure-ran, 50*time.Millisecond))
		var now times
		if now, err = s.ran(p, r); err == nil {
			ran = time.Duration(now.since(begin).sum() / float64(r.workers) * 1e9)
		}
	}
	return err
}

// stepped returns the instructions per packet of the tasks, by row of bench/cmd/instructions, which
// that program counts on any machine. A row that it does not count is an error, and missing.
func stepped(program string, rows []*row) (map[string]float64, error) {
	counts, seen := map[string]float64{}, map[string]bool{"": true}
	if program == "" {
		return counts, nil
	}
	var errs []error
	for _, r := range rows {
		name := r.task.instructions
		if seen[name] {
			continue
		}
		seen[name] = true
		out, err := exec.Command(program, "--json", "--rows", name).Output()
		if err == nil {
			err = json.Unmarshal(out, &counts)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s --rows %s: %w", program, name, err))
		}
	}
	return counts, errors.Join(errs...)
}
