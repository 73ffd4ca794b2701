// Index of one field of mitigation rules.

package mitigate

import "slices"

// set is a set of rules by their place; as many words as the Table has.
type set []uint64

func (s set) put(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) keep(o set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// point is a number of 128 bits, the more significant half first: an address as flows.Key
// has it, or a smaller number in the second half.
type point [2]uint64

func (p point) less(o point) bool { return p[0] < o[0] || p[0] == o[0] && p[1] < o[1] }

// next is p+1; zero after the last.
func (p point) next() point {
	p[1]++
	if p[1] == 0 {
		p[0]++
	}
	return p
}

// span is an inclusive range.
type span struct{ first, last point }

// index says for each value of one field which rules it fits: values are cut where some
// rule's span begins or ends, and each piece has its set (Lakshman and Stiliadis, SIGCOMM
// 1998).
type index struct {
	from []point // ascending; piece i is [from[i], from[i+1]); from[0] is zero
	fits []set   // of each piece
}

// newIndex compiles the spans of all rules; nil: every value fits, empty: none.
func newIndex(rules [][]span, words int) index {
	x := index{from: []point{{}}}
	for _, spans := range rules {
		for _, s := range spans {
			x.from = append(x.from, s.first, s.last.next())
		}
	}
	slices.SortFunc(x.from, func(a, b point) int { return slices.Compare(a[:], b[:]) })
	x.from = slices.Compact(x.from)
	room := make(set, len(x.from)*words)
	for i := range x.from {
		x.fits = append(x.fits, room[i*words:][:words:words])
	}
	for r, spans := range rules {
		if spans == nil {
			spans = []span{{last: point{^uint64(0), ^uint64(0)}}}
		}
		for _, s := range spans {
			for i := x.piece(s.first); i < len(x.from) && !s.last.less(x.from[i]); i++ {
				x.fits[i].put(r)
			}
		}
	}
	return x
}

// at returns the rules that p fits.
func (x *index) at(p point) set { return x.fits[x.piece(p)] }

// piece is the last one that begins at or below p.
func (x *index) piece(p point) int {
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
