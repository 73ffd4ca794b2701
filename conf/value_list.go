package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// listValue is a list of T, or one T alone where single is set.
type listValue[T any] struct {
	p        *[]T
	single   bool // one element may stand there without brackets
	keep     bool // written even when empty; [] is not the same as nothing
	accepted string
	parse    func(x *expr) ([]T, bool) // one element; several T where it abbreviates them
	format   func(T) string            // as HCL
	same     func(a, b T) bool         // nil: repetitions are fine
	finish   func([]T) []T             // nil: as written
}

func (v *listValue[T]) key() any { return v.p }

func (v *listValue[T]) write() (string, bool) {
	if len(*v.p) == 0 {
		return "[]", v.keep && *v.p != nil
	}
	out := make([]string, len(*v.p))
	for i, t := range *v.p {
		out[i] = v.format(t)
	}
	return "[" + strings.Join(out, ", ") + "]", true
}

// orNone makes [] a value of its own: none, and not the default.
func (v *listValue[T]) orNone() *listValue[T] {
	v.keep = true
	return v
}

// omitEmpty is the opposite of orNone: [] is the same as the attribute omitted.
func (v *listValue[T]) omitEmpty() *listValue[T] {
	v.keep = false
	return v
}

func (v *listValue[T]) read(x *expr) bool {
	elems, ok := x.elements(v.accepted, v.single)
	if !ok {
		return false
	}
	list := make([]T, 0, len(elems))
	for i, e := range elems {
		ts, good := v.parse(e)
		ok = ok && good
		for _, t := range ts {
			if v.same != nil && slices.ContainsFunc(list, func(o T) bool { return v.same(o, t) }) {
				ok = e.fail("stands there twice; once is enough")
				break
			}
			list = append(list, t)
			x.d.place(element{v.p, len(list) - 1}, elems[i].e.Range())
		}
	}
	if !ok {
		return false
	}
	if v.finish != nil {
		list = v.finish(list)
	}
	if len(list) == 0 && !v.keep {
		list = nil
	}
	*v.p = list
	return true
}

func equal[T comparable](a, b T) bool { return a == b }

// one makes the parser of a list out of that of a single element.
func one[T any](f func(x *expr) (T, bool)) func(x *expr) ([]T, bool) {
	return func(x *expr) ([]T, bool) {
		t, ok := f(x)
		if !ok {
			return nil, false
		}
		return []T{t}, true
	}
}

// texts is a list of strings.
func texts(p *[]string) *listValue[string] {
	return &listValue[string]{
		p: p, accepted: "a list of strings", format: quote,
		parse: one(func(x *expr) (string, bool) { return x.text("a string in quotes") }),
	}
}

// chosen is the key of the place of one string in a list of choices, which is
// sorted.
type chosen struct {
	list *[]string
	s    string
}

// choices is a list of some of the given strings, none twice; what names one of
// them in messages. The list is kept in the order of values.
func choices(p *[]string, what string, values ...string) *listValue[string] {
	return &listValue[string]{
		p: p, accepted: "a list of " + oneOf(values), format: quote, same: equal[string],
		parse: one(func(x *expr) (string, bool) {
			s, ok := x.text("a string in quotes")
			if !ok {
				return "", false
			}
			if !slices.Contains(values, s) {
				if hint := didYouMean(s, values, "%q"); hint != "" {
					return "", x.fail("unknown %s%s", what, hint)
				}
				return "", x.fail("unknown %s; known: %s", what, oneOf(values))
			}
			x.d.place(chosen{p, s}, x.e.Range())
			return s, true
		}),
		finish: func(list []string) []string {
			slices.SortFunc(list, func(a, b string) int { return slices.Index(values, a) - slices.Index(values, b) })
			return list
		},
	}
}

// ranges is a list of numbers and "first-last" ranges within min..max.
func ranges(p *[]PortRange, min, max uint16) value {
	accepted := fmt.Sprintf(`numbers or ranges such as "%d-%d", from %d to %d`, min+1, min+99, min, max)
	return &listValue[PortRange]{
		p: p, single: true, accepted: accepted, same: equal[PortRange],
		parse: one(func(x *expr) (PortRange, bool) {
			first, last, ok := parseRange(x, accepted, uint32(min), uint32(max))
			return PortRange{uint16(first), uint16(last)}, ok
		}),
		format: func(r PortRange) string { return formatRange(uint32(r.First), uint32(r.Last)) },
	}
}

func formatRange(first, last uint32) string {
	if first == last {
		return strconv.FormatUint(uint64(first), 10)
	}
	return quote(fmt.Sprintf("%d-%d", first, last))
}

func parseRange(x *expr, accepted string, min, max uint32) (from, to uint32, ok bool) {
	s, ok := x.textOrNumber(accepted)
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
		return 0, 0, x.fail("accepted are %s", accepted)
	case a > b:
		return 0, 0, x.fail(`the range ends before it begins; did you mean "%d-%d"?`, b, a)
	}
	return uint32(a), uint32(b), true
}

// codePoints is a list of DSCP values.
func codePoints(p *[]uint8) value {
	return &listValue[uint8]{
		p: p, single: true, accepted: "numbers from 0 to 63", same: equal[uint8],
		format: func(n uint8) string { return strconv.Itoa(int(n)) },
		parse: one(func(x *expr) (uint8, bool) {
			n, ok := x.integer(0, 63, false)
			return uint8(n), ok
		}),
	}
}

// protocolNames are the IP protocols that have a name here.
var protocolNames = []struct {
	name   string
	number uint8
}{
	{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132}, {"gre", 47}, {"esp", 50}, {"ah", 51},
}

// protocols is a list of IP protocols, by name or number.
func protocols(p *[]uint8) value {
	const accepted = "tcp, udp, icmp, icmpv6, sctp, gre, esp, ah or a number from 0 to 255"
	return &listValue[uint8]{
		p: p, single: true, accepted: accepted, same: equal[uint8],
		format: func(n uint8) string {
			for _, known := range protocolNames {
				if known.number == n {
					return quote(known.name)
				}
			}
			return strconv.Itoa(int(n))
		},
		parse: one(func(x *expr) (uint8, bool) { return parseProtocol(x, accepted) }),
	}
}

func parseProtocol(x *expr, accepted string) (uint8, bool) {
	s, ok := x.textOrNumber(accepted)
	if !ok {
		return 0, false
	}
	var names []string
	for _, known := range protocolNames {
		if strings.EqualFold(s, known.name) {
			return known.number, true
		}
		names = append(names, known.name)
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, x.fail("not a protocol; accepted is %s%s", accepted, didYouMean(s, names, "%q"))
	}
	return uint8(n), true
}
