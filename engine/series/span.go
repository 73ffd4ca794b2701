// Span: which points an answer has, of which time; how several points become one.

package series

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Span is a time that points are wanted of, in steps.
type Span struct {
	unit       int64 // a second or a minute
	first, end int64 // in units; end is not part of it
	each       int64 // units of a step
}

// MostPoints is how many points an answer has of one value.
const MostPoints = Minutes

// MostSteps is how many steps an answer about many places has, of all of them together.
const MostSteps = 100 * MostPoints

// NewSpan is the time from since until until, in steps; step 0: a second where that reaches back far enough, else a minute.
// Its last step is the last that is over.
func NewSpan(now, since, until time.Time, step time.Duration) (*Span, error) {
	s := &Span{unit: second}
	bySeconds := now.Sub(since) <= Seconds*time.Second
	if step == 0 {
		step = time.Minute
		if bySeconds {
			step = time.Second
		}
	}
	switch {
	case now.Sub(since) > Minutes*time.Minute:
		return nil, fmt.Errorf("since lies further back than is kept: %d hours", Minutes/60)
	case !since.Before(until):
		return nil, fmt.Errorf("since is not before until")
	case step < time.Second || step%time.Second != 0:
		return nil, fmt.Errorf("step must be whole seconds, or whole minutes where since lies further back than ten minutes")
	case !bySeconds && step%time.Minute != 0:
		return nil, fmt.Errorf("step must be whole minutes where since lies further back than ten minutes")
	case !bySeconds:
		s.unit = minute
	}
	s.each = int64(step) / s.unit
	s.end = min(until.UnixNano(), now.UnixNano()) / s.unit / s.each * s.each
	s.first = since.UnixNano() / s.unit / s.each * s.each
	if s.first < since.UnixNano()/s.unit {
		s.first += s.each // what is older than since is left out
	}
	if n := s.Len(); n > MostPoints {
		return nil, fmt.Errorf("these are %d points: at most %d, with a longer step", n, MostPoints)
	}
	return s, nil
}

// Whole is the same time as one step.
func (s *Span) Whole() *Span { return &Span{s.unit, s.first, s.end, max(s.end-s.first, 1)} }

// Len is how many steps there are.
func (s *Span) Len() int { return int(max(s.end-s.first, 0) / s.each) }

// Begin is when the first step begins.
func (s *Span) Begin() time.Time { return time.Unix(0, s.first*s.unit).UTC() }

// Step is how long one is.
func (s *Span) Step() time.Duration { return time.Duration(s.each * s.unit) }

// Join makes one point of several: the middle of the medians, by their weights, the highest of all else. What is not known
// does not count.
func Join(points []Point) (p Point) {
	all := slices.DeleteFunc(slices.Clone(points), func(x Point) bool { return !x.Known })
	slices.SortFunc(all, func(a, b Point) int { return cmp.Compare(a.Median, b.Median) })
	whole, below := 0, 0
	for _, x := range all {
		p.Known, p.P99, p.Max = true, max(p.P99, x.P99), max(p.Max, x.Max)
		whole += max(x.Weight, 1)
	}
	for _, x := range all {
		if below += max(x.Weight, 1); 2*below >= whole {
			p.Median = x.Median
			break
		}
	}
	return p
}
