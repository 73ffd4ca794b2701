// Index: the values of one field, cut into pieces, each with the set of rules that it fits.

package classify

import "slices"

// Point is a number of 128 bits, the more significant half first: an address as flows.Key
// has it, or a smaller number in the second half.
type Point [2]uint64

func (p Point) less(o Point) bool { return p[0] < o[0] || p[0] == o[0] && p[1] < o[1] }

// next returns p+1, or zero after the last point.
func (p Point) next() Point {
	p[1]++
	if p[1] == 0 {
		p[0]++
	}
	return p
}

func compare(a, b Point) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}

// Span is an inclusive range of points.
type Span struct{ First, Last Point }

// Index gives for each value of one field the set of rules that accept it. Values are cut into
// pieces where some rule's span begins or ends, and each piece has its set, so that a hundred
// rules cost a few more steps of a binary search than one. S is the caller's type of sets.
type Index[S any] struct {
	from []Point // ascending; piece i is [from[i], from[i+1]); from[0] is zero
	fits []S     // fits[i]: the rules that accept piece i
}

// New compiles the spans of all rules, in their order. nil spans accept every value, an empty
// list accepts none. makeSets returns n empty sets, and put adds a rule to one.
func New[S any](rules [][]Span, makeSets func(n int) []S, put func(set *S, rule int)) Index[S] {
	x := Index[S]{from: []Point{{}}}
	for _, spans := range rules {
		for _, s := range spans {
			x.from = append(x.from, s.First, s.Last.next())
		}
	}
	slices.SortFunc(x.from, compare)
	x.from = slices.Compact(x.from)
	x.fits = makeSets(len(x.from))
	for r, spans := range rules {
		if spans == nil {
			spans = []Span{{Last: Point{^uint64(0), ^uint64(0)}}}
		}
		for _, s := range spans {
			for i := x.piece(s.First); i < len(x.from) && !s.Last.less(x.from[i]); i++ {
				put(&x.fits[i], r)
			}
		}
	}
	return x
}

// Cuts tells whether some values fit other rules than others may: else At is the same of all.
func (x *Index[S]) Cuts() bool { return len(x.from) > 1 }

// At returns the set of rules that p fits.
func (x *Index[S]) At(p Point) *S { return &x.fits[x.piece(p)] }

// piece returns the index of the piece that p is in. A binary search without branches was
// measured: for a new flow it takes 150 ns instead of 170 with a hundred watches, but 107 instead
// of 73 with ten.
func (x *Index[S]) piece(p Point) int {
	lo, hi := 0, len(x.from) // from[lo] <= p < from[hi]
	for hi-lo > 1 {
		if m := int(uint(lo+hi) / 2); p.less(x.from[m]) {
			hi = m
		} else {
			lo = m
		}
	}
	return lo
}
