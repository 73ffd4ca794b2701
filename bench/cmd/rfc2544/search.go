package main

import "fmt"

// trial is the result of one trial at one rate.
type trial struct {
	Rate      float64 // frames per second that were offered in fact
	Loss      float64 // share of them that did not come back
	Disturbed bool    // something else took the device's CPU meanwhile
}

// search finds the highest rate at which no more than a share of loss is lost
// (RFC 2544, 26.1), by bisection until the bracket is narrower than resolution of
// its upper end.
type search struct {
	top   float64 // the highest rate worth trying, or, with grow, a guess at it
	grow  bool
	loss  float64
	tries int // of a rate before it has failed; the RFC: 1
	// patience is how many tries that lost too much do not count because the
	// device was disturbed; 0: each counts.
	patience   int
	resolution float64
	try        func(rate float64) (trial, error)
}

// run returns the best trial that passed; ok is false where none did.
func (s *search) run() (best trial, ok bool, err error) {
	low, high, growing := 0.0, s.top, s.grow
	for rate := s.top; ; {
		t, passed, err := s.passes(rate)
		if err != nil {
			return trial{}, false, fmt.Errorf("at %.0f frames per second: %w", rate, err)
		}
		if passed {
			low = rate
		} else {
			high = rate
		}
		// A generator that falls short of rate has shown no more than it offered.
		if passed && (!ok || t.Rate > best.Rate) {
			best, ok = t, true
		}
		if growing = growing && passed && t.Rate > full*rate; growing {
			rate, high = 2*rate, 2*rate
			continue
		}
		if high-low <= s.resolution*high || high < s.top/hopeless {
			return best, ok, nil
		}
		rate = (low + high) / 2
	}
}

const (
	full     = 0.98 // part of the rate that a generator which keeps up offers
	hopeless = 1000 // part of the top below which nothing is looked for
)

func (s *search) passes(rate float64) (t trial, passed bool, err error) {
	failed, disturbed := 0, 0
	for failed < max(1, s.tries) {
		if t, err = s.try(rate); err != nil || t.Loss <= s.loss {
			return t, err == nil, err
		}
		if t.Disturbed && disturbed < s.patience {
			disturbed++
			continue
		}
		failed++
	}
	return t, false, nil
}
