package classify

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/internal/ranges"
)

// bits is a set of up to 64 rules.
type bits uint64

func (b *bits) put(i int) { *b |= 1 << i }

func index(rules [][]Span) Index[bits] {
	return New(rules, func(n int) []bits { return make([]bits, n) }, (*bits).put)
}

func TestPrefixesOfAllLengths(t *testing.T) {
	for _, s := range []string{"255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"} {
		a := netip.MustParseAddr(s)
		for n := range a.BitLen() + 1 {
			p := netip.PrefixFrom(a, n).Masked()
			x := index([][]Span{Prefixes([]netip.Prefix{p}, a.Is4())})
			if *x.At(Address(p.Addr())) != 1 || *x.At(Address(a)) != 1 {
				t.Errorf("%v does not have its ends", p)
			}
			if before := p.Addr().Prev(); before.IsValid() && *x.At(Address(before)) != 0 {
				t.Errorf("%v has %v", p, before)
			}
		}
	}
}

// TestAllAndNone: a rule without spans accepts every value, one with an empty list (a list of
// prefixes of the other IP version) none.
func TestAllAndNone(t *testing.T) {
	four := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	x := index([][]Span{Prefixes(nil, false), Prefixes(four, false), Prefixes(four, true)})
	for address, want := range map[string]bits{"10.1.2.3": 5, "11.0.0.0": 1, "9.255.255.255": 1} {
		if got := *x.At(Address(netip.MustParseAddr(address))); got != want {
			t.Errorf("%s: %03b, want %03b", address, got, want)
		}
	}
}

// TestAtIsEachRulesRanges: for random ranges and every value, At returns the rules that a look
// at each rule's ranges gives.
func TestAtIsEachRulesRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rules, spans := make([][]ranges.Range[uint16], 64), make([][]Span, 64)
		for i := range rules {
			for range 1 + r.IntN(3) {
				first := uint16(r.IntN(200))
				rules[i] = append(rules[i], ranges.Range[uint16]{First: first, Last: first + uint16(r.IntN(50))})
			}
			spans[i] = Spans(rules[i], Range[uint16])
		}
		x := index(spans)
		for n := range uint16(300) {
			var want bits
			for i, list := range rules {
				for _, one := range list {
					if one.Has(n) {
						want.put(i)
					}
				}
			}
			if got := *x.At(Point{0, uint64(n)}); got != want {
				t.Fatalf("%d: %064b, want %064b", n, got, want)
			}
		}
	}
}
