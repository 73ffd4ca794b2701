// For tests: random prefixes, ports, devices and flow keys out of few values; what a rule's
// list accepts.

// Package classifytest draws rules and packets at random, for tests of packages that compile
// rules with package classify. It draws from few values, so that much of it matches, and finds
// out what a rule accepts by a look at each list.
package classifytest

import (
	"math/rand/v2"
	"net/netip"
	"slices"

	"intsink/flows"
	"intsink/internal/ranges"
)

// Dice draws from few values.
type Dice struct{ *rand.Rand }

// Addr is one of some addresses, IPv4 or IPv6.
func (d Dice) Addr() netip.Addr {
	if d.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte{byte(d.IntN(2)) * 255, byte(d.IntN(3)), 0, byte(d.IntN(4))})
	}
	var b [16]byte
	b[0], b[7], b[8], b[15] = byte(d.IntN(2))*255, byte(d.IntN(3)), byte(d.IntN(2)), byte(d.IntN(4))
	return netip.AddrFrom16(b)
}

// Prefix returns an Addr with any length.
func (d Dice) Prefix() netip.Prefix {
	a := d.Addr()
	return netip.PrefixFrom(a, d.IntN(a.BitLen()+1))
}

// Ports returns a range that begins at one of eight ports.
func (d Dice) Ports() ranges.Range[uint16] {
	first := uint16(d.IntN(8)) * 9362 // up to 65534
	return ranges.Range[uint16]{First: first, Last: first + uint16(d.IntN(int(65535-first)+1))}
}

// Protocol is 0 or UDP.
func (d Dice) Protocol() uint8 { return uint8(d.IntN(2)) * 17 }

// Device is one of three ids.
func (d Dice) Device() uint64 { return 1 << (d.UintN(3) * 31) }

// Key returns the key of a flow between two Addrs of one family.
func (d Dice) Key() (k flows.Key) {
	src, dst := d.Addr(), d.Addr()
	for src.Is4() != dst.Is4() {
		dst = d.Addr()
	}
	version := uint8(6)
	if src.Is4() {
		version = 4
	}
	k.SetAddrs(src, dst)
	k.SetPorts(version, d.Protocol(), uint16(d.Uint32()), uint16(d.Uint32()))
	return k
}

// Some returns, one time in n, a list of up to three values that f draws, else an empty one.
func Some[T any](d Dice, n int, f func() T) (out []T) {
	if d.IntN(n) == 0 {
		for range 1 + d.IntN(3) {
			out = append(out, f())
		}
	}
	return out
}

// InRange reports whether list, which accepts all where it is empty, accepts n.
func InRange[T uint16 | uint32](list []ranges.Range[T], n T) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(r ranges.Range[T]) bool { return r.Has(n) })
}

// InPrefix is InRange for prefixes.
func InPrefix(list []netip.Prefix, a netip.Addr) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// InList is InRange for single numbers.
func InList[T comparable](list []T, n T) bool { return len(list) == 0 || slices.Contains(list, n) }
