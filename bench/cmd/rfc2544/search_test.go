package main

import (
	"errors"
	"math"
	"testing"
)

// device forwards capacity frames per second, and of fewer loses base.
func device(capacity, base float64, asked *int) func(float64) (trial, error) {
	return func(rate float64) (trial, error) {
		*asked++
		return trial{Rate: rate, Loss: base + max(0, rate-capacity)/rate}, nil
	}
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name                 string
		capacity, base, loss float64
		want                 float64 // 0: nothing passes
	}{
		{"no loss", 4e6, 0, 0, 4e6},
		{"half a percent", 4e6, 0, 0.005, 4e6 / 0.995},
		{"slower than a hundredth of the top", 5e4, 0, 0, 5e4},
		{"everything passes", 2e7, 0, 0, 1e7},
		{"always loses", 4e6, 0.001, 0, 0},
		{"loses little", 4e6, 0.001, 0.005, 4e6 / 0.996},
	} {
		asked := 0
		s := search{top: 1e7, loss: c.loss, resolution: 0.001, try: device(c.capacity, c.base, &asked)}
		best, ok, err := s.run()
		if err != nil || ok != (c.want > 0) {
			t.Errorf("%s: %v, %v", c.name, ok, err)
			continue
		}
		if ok && (best.Rate > c.want*1.000001 || best.Rate < c.want*0.998 || best.Loss > c.loss) {
			t.Errorf("%s: %.0f with loss %v, want %.0f", c.name, best.Rate, best.Loss, c.want)
		}
		if limit := int(math.Log2(1e7/100)) + 20; asked > limit {
			t.Errorf("%s: %d trials", c.name, asked)
		}
	}
}

// A stall of the machine fails one try, not the rate.
func TestTries(t *testing.T) {
	n := 0
	s := search{top: 100, resolution: 0.01, tries: 2, try: func(rate float64) (trial, error) {
		n++
		return trial{Rate: rate, Loss: float64(n % 2)}, nil // every other try fails
	}}
	if best, ok, err := s.run(); !ok || err != nil || best.Rate != 100 {
		t.Errorf("%+v, %v, %v", best, ok, err)
	}
}

// Disturbed tries do not count, up to patience.
func TestPatience(t *testing.T) {
	for disturbed, want := range map[int]bool{3: true, 4: false} {
		n := 0
		s := search{top: 100, resolution: 0.01, patience: 3, try: func(rate float64) (trial, error) {
			if n++; n <= disturbed {
				return trial{Rate: rate, Loss: 0.5, Disturbed: true}, nil
			}
			return trial{Rate: rate}, nil
		}}
		if best, _, err := s.run(); err != nil || (best.Rate == 100) != want {
			t.Errorf("%d disturbed tries: %+v, %v", disturbed, best, err)
		}
	}
}

// A first guess that was too low does not bound the result.
func TestGrow(t *testing.T) {
	for _, capacity := range []float64{1e5, 9e5, 1e6, 1.1e6, 7e6, 1e9} {
		asked := 0
		s := search{top: 1e6, grow: true, resolution: 0.001, try: device(capacity, 0, &asked)}
		if best, ok, err := s.run(); !ok || err != nil || best.Rate > capacity || best.Rate < 0.998*capacity || asked > 40 {
			t.Errorf("%.0f: found %.0f in %d trials, %v", capacity, best.Rate, asked, err)
		}
	}
}

// What the generator could not offer is not the device's rate.
func TestGeneratorFallsShort(t *testing.T) {
	s := search{top: 100, grow: true, resolution: 0.01, try: func(float64) (trial, error) { return trial{Rate: 60}, nil }}
	if best, ok, _ := s.run(); !ok || best.Rate != 60 {
		t.Errorf("%+v", best)
	}
}

func TestFault(t *testing.T) {
	fault := errors.New("link down")
	s := search{top: 100, resolution: 0.01, tries: 3, try: func(float64) (trial, error) { return trial{}, fault }}
	if _, ok, err := s.run(); ok || !errors.Is(err, fault) {
		t.Errorf("%v, %v", ok, err)
	}
}
