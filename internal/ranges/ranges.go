// Package ranges is the one type of inclusive ranges of numbers: of ports, VLAN ids, network
// identifiers and node ids, in configurations and in the packages that match packets.
package ranges

import "strconv"

// Range is First to Last, both included.
type Range[T uint16 | uint32] struct{ First, Last T }

// Has reports whether n is in r.
func (r Range[T]) Has(n T) bool { return r.First <= n && n <= r.Last }

// String is "first-last", or the number alone where the range has one.
func (r Range[T]) String() string {
	first := strconv.FormatUint(uint64(r.First), 10)
	if r.First == r.Last {
		return first
	}
	return first + "-" + strconv.FormatUint(uint64(r.Last), 10)
}
