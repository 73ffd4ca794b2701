package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// sliceOf has frames of these latencies, and a stalled turn besides.
func sliceOf(latencies ...int64) *sample {
	s := &sample{turns: 10, stalled: 1, elapsed: 2}
	for _, ns := range latencies {
		s.steady.Add(ns)
		s.all.Add(ns)
	}
	s.all.Add(200)
	return s
}

func TestStatistics(t *testing.T) {
	of := []*sample{sliceOf(10, 20, 30), sliceOf(40), sliceOf(50), sliceOf()}
	stalled, elapsed := func(s *sample) float64 { return s.stalled }, func(s *sample) float64 { return s.elapsed }
	for _, c := range []struct {
		name string
		f    statistic
		want [3]float64 // with the weights below
	}{
		{"pooled median", pooled(0.5, steady), [3]float64{30, 20, 50}},
		{"pooled maximum", pooled(1, steady), [3]float64{50, 30, 50}},
		{"pooled maximum of all", pooled(1, all), [3]float64{200, 200, 200}},
		{"typical", typical(0.5, steady), [3]float64{40, 20, 50}},
		{"share", share(stalled, elapsed), [3]float64{0.5, 0.5, 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, weights := range [][]int{{1, 1, 1, 1}, {2, 0, 0, 0}, {0, 1, 3, 0}} {
				if got := c.f(of, weights); got != c.want[i] {
					t.Errorf("weights %v: %v, want %v", weights, got, c.want[i])
				}
			}
			if got := c.f(nil, nil); !math.IsNaN(got) {
				t.Errorf("of nothing: %v", got)
			}
		})
	}
}

// draw makes slices of n frames each whose latencies are a round's own times those of a long
// tail, and under the second condition times more besides.
func draw(random *rand.Rand, slices, n int, more float64) (r rounds) {
	for range slices {
		round := 1 + random.Float64()
		for i, factor := range []float64{1, more} {
			s := &sample{}
			for range n {
				s.steady.Add(int64(1000 * round * factor * (1 + random.ExpFloat64())))
			}
			r[i] = append(r[i], s)
		}
	}
	return r
}

// The interval of a change that is there has it, that of none has none; the rounds' own
// differences, much larger, are in neither.
func TestCompare(t *testing.T) {
	for _, more := range []float64{1, 1.05, 1.2} {
		r := draw(rand.New(rand.NewPCG(5, 6)), 60, 4000, more)
		c := r.compare(pooled(0.99, steady), false)
		if c.low > more || c.high < more || c.high-c.low > 0.05 || c.value < c.low || c.value > c.high {
			t.Errorf("%v times as long: %.3f, %.3f to %.3f", more, c.value, c.low, c.high)
		}
	}
}

func TestCompareDifference(t *testing.T) {
	var r rounds
	for i := range 50 {
		r[0] = append(r[0], &sample{turns: 100, stalled: float64(i % 2)})
		r[1] = append(r[1], &sample{turns: 100, stalled: float64(i%2) + 3})
	}
	stalled, turns := func(s *sample) float64 { return s.stalled }, func(s *sample) float64 { return s.turns }
	c := r.compare(share(stalled, turns), true)
	if want := (change{[2]float64{0.005, 0.035}, 0.03, 0.03, 0.03}); math.Abs(c.value-want.value)+math.Abs(c.low-want.low)+math.Abs(c.high-want.high) > 1e-9 || c.of != want.of {
		t.Errorf("%+v, want %+v", c, want)
	}
	if c := (rounds{}).compare(pooled(0.5, steady), false); !math.IsNaN(c.value) || !math.IsNaN(c.low) {
		t.Errorf("of no rounds: %+v", c)
	}
}

func TestFigureLine(t *testing.T) {
	for _, c := range []struct {
		figure
		change
		want string
	}{
		{figure{"p50, us", nil, 1e-3, false}, change{[2]float64{2000, 2100}, 1.05, 1.01, 1.10}, "p50, us|2.000|2.100|+5.0 %|+1.0 % to +10.0 %"},
		{figure{"stalled, %", nil, 100, true}, change{[2]float64{0.01, 0.005}, -0.005, -0.01, 0.002}, "stalled, %|1.000|0.500|-0.500|-1.000 to +0.200"},
		{figure{"none", nil, 1, false}, change{[2]float64{0, 0}, math.NaN(), math.NaN(), math.Inf(1)}, "none|0.000|0.000|-|- to -"},
	} {
		if got := strings.Join(c.line(c.change), "|"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	r := rounds{{sliceOf(1000), sliceOf(1000)}, {sliceOf(2000), sliceOf(2000)}}
	got := r.table("quiet", "loud")
	for _, want := range []string{"quiet", "loud", "+100."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != len(figures())+2 {
		t.Errorf("%d lines for %d figures", n, len(figures()))
	}
}

func TestAlternate(t *testing.T) {
	s := []*sample{{turns: 0}, {turns: 1}, {turns: 2}, {turns: 3}, {turns: 4}}
	even, odd := alternate(s)
	if len(even) != 2 || len(odd) != 2 || even[1] != s[2] || odd[1] != s[3] {
		t.Errorf("%v, %v", even, odd)
	}
}
