// Ranges: reads and writes numbers and "first-last" ranges of them.

package schema

import (
	"strconv"
	"strings"

	"intsink/internal/ranges"
)

// Range is First to Last, both included.
type Range[T uint16 | uint32] = ranges.Range[T]

// Ranges returns a list of numbers and "first-last" ranges within min..max; accepted describes
// these in messages. good, unless nil, may refuse a range after reporting why.
func Ranges[T uint16 | uint32](p *[]Range[T], accepted string, min, max T, good func(x *Expr, r Range[T]) bool) Value {
	return &List[Range[T]]{
		Into: p, Single: true, Accepted: accepted, Once: true, Format: formatRange[T],
		Parse: One(func(x *Expr) (Range[T], bool) {
			first, last, ok := parseRange(x, accepted, uint32(min), uint32(max))
			r := Range[T]{First: T(first), Last: T(last)}
			return r, ok && (good == nil || good(x, r))
		}),
	}
}

func formatRange[T uint16 | uint32](r Range[T]) string {
	if r.First == r.Last {
		return r.String()
	}
	return Quote(r.String())
}

func parseRange(x *Expr, accepted string, min, max uint32) (from, to uint32, ok bool) {
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return 0, 0, false
	}
	first, last, found := strings.Cut(s, "-")
	if !found {
		last = first
	}
	a, err1 := strconv.ParseUint(strings.TrimSpace(first), 10, 32)
	b, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 32)
	switch {
	case err1 != nil || err2 != nil || a < uint64(min) || b > uint64(max):
		return 0, 0, x.Fail("accepted are %s", accepted)
	case a > b:
		return 0, 0, x.Fail(`the range ends before it begins; did you mean "%d-%d"?`, b, a)
	}
	return uint32(a), uint32(b), true
}
