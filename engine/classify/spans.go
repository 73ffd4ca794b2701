// Makes Spans of the lists that rules have: prefixes of one IP version, ranges of ports and
// identifiers, single numbers.

package classify

import (
	"encoding/binary"
	"net/netip"

	"intsink/internal/ranges"
)

// Spans returns f of each element of a rule's list. An empty list gives nil: the rule accepts
// every value.
func Spans[T any](list []T, f func(T) Span) (out []Span) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

// Number returns the span of one number.
func Number[T uint8 | uint16 | uint64](n T) Span {
	p := Point{0, uint64(n)}
	return Span{p, p}
}

// Range returns the span of a range.
func Range[T uint16 | uint32](r ranges.Range[T]) Span {
	return Span{Point{0, uint64(r.First)}, Point{0, uint64(r.Last)}}
}

// Prefixes returns the spans of the prefixes of one IP version, 4 if four is set, else 6. An
// empty list gives nil, which accepts every address; if all prefixes are of the other version
// the result is empty, which accepts none.
func Prefixes(list []netip.Prefix, four bool) []Span {
	if len(list) == 0 {
		return nil
	}
	out := []Span{}
	for _, p := range list {
		if p.Addr().Is4() == four {
			out = append(out, prefix(p))
		}
	}
	return out
}

func prefix(p netip.Prefix) Span {
	first := Address(p.Masked().Addr())
	last := first
	host := p.Addr().BitLen() - p.Bits()
	last[1] |= 1<<min(host, 64) - 1 // a shift of 64 gives zero: all ones
	if host > 64 {
		last[0] |= 1<<(host-64) - 1
	}
	return Span{first, last}
}

// Address returns an address as a Point, in the form of flows.Key.
func Address(a netip.Addr) Point {
	if a.Is4() {
		b := a.As4()
		return Point{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return Point{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}
