package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/lab"
)

// rhythm is that of the slices. On a machine with two CPUs the rest is when intsink's API and
// its clients run: a fifth of the time.
var rhythm = generator.Rhythm{Work: time.Millisecond, Rest: 250 * time.Microsecond, Warm: 100 * time.Microsecond, Stall: 50 * time.Microsecond}

// inTurns measures intsink under each condition, in turns: one slice of each in
// every round, in an order drawn anew, all of one process. The first condition is what the
// others are compared with.
func (s *session) inTurns(conditions []condition) error {
	p, err := lab.Pick("intsink")
	if err != nil {
		return err
	}
	// The generator's goroutine needs no other one to wait for, and no collector in the
	// middle: Run collects before each slice.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	fmt.Printf("%d slices of %v per column over net_memif, %.1f Mpps in bursts of %d, reference input; %v\n\n",
		s.options.turns, s.options.slice, s.options.mpps, s.options.burst, &s.lab.Setup)
	measured := make([][]*sample, len(conditions))
	err = s.lab.With(p, func(d dut.DUT) error {
		intsink := d.(*dut.Intsink)
		if err := s.warmUp(intsink); err != nil {
			return err
		}
		for range s.options.turns {
			for _, i := range rand.Perm(len(conditions)) {
				x, err := s.measureSlice(intsink, &conditions[i])
				if err != nil {
					return fmt.Errorf("%s: %w", conditions[i].title, err)
				}
				measured[i] = append(measured[i], x)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := 1; i < len(conditions); i++ {
		fmt.Println(rounds{measured[0], measured[i]}.table(conditions[0].title, conditions[i].title))
	}
	even, odd := alternate(measured[0])
	fmt.Println(rounds{even, odd}.table(conditions[0].title, "quiet again"))
	fmt.Print(turnsLegend)
	return nil
}

// alternate takes every second of all, and the others.
func alternate(all []*sample) (even, odd []*sample) {
	for i := 0; i+1 < len(all); i += 2 {
		even, odd = append(even, all[i]), append(odd, all[i+1])
	}
	return even, odd
}

// warmUp keeps others off the worker's CPU where that is wanted, and offers load for a while.
func (s *session) warmUp(p *dut.Intsink) error {
	if s.options.fifo {
		worker, err := dut.Worker(p.PID(), s.lab.Setup.Lcores[0])
		if err == nil {
			err = generator.RealTime(worker.TID)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.lab.Generator.Run(s.load(1e6*s.options.mpps, s.options.settle))
	return err
}

// measureSlice measures one slice under c. What it asks of intsink for that, it asks before and
// after.
func (s *session) measureSlice(p *dut.Intsink, c *condition) (*sample, error) {
	before, err := p.Read()
	if err != nil {
		return nil, err
	}
	leave, err := c.enter(p, s.options.slice)
	if err != nil {
		return nil, err
	}
	worker, err := dut.Worker(p.PID(), s.lab.Setup.Lcores[0])
	if err != nil {
		return nil, err
	}
	load := s.load(1e6*s.options.mpps, s.options.slice)
	load.Quiet, load.Rhythm = 5*time.Millisecond, rhythm
	r, err := s.lab.Generator.Run(load)
	if err != nil {
		return nil, err
	}
	now, threadErr := dut.ReadThread(p.PID(), worker.TID)
	times, leaveErr := leave()
	after, err := p.Read()
	if err := errors.Join(threadErr, leaveErr, err); err != nil {
		return nil, err
	}
	thread := now.Since(worker)
	return &sample{
		all: r.Latency, steady: r.Steady, seconds: r.Counted, elapsed: r.Seconds,
		turns: float64(r.Turns.Turns), stalled: float64(r.Stalled), received: float64(r.Received), late: float64(r.LateReads),
		gaps:   after.Counters.Since(before.Counters).LongGaps[0],
		yields: float64(thread.Voluntary), waited: float64(thread.WaitNs) / 1e9, times: float64(times),
	}, nil
}
