//go:build !race

package watch

import (
	"fmt"
	"net/netip"
	"testing"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// disjoint are n-1 watches that match little of what the benchmark asks for, and one that
// matches all.
func disjoint(n int) (all []*Match) {
	for i := range n - 1 {
		all = append(all, &Match{
			Source:          []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 16)},
			Destination:     []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i + 1), 0, 0}), 16)},
			Protocol:        []uint8{6, 17},
			DestinationPort: []PortRange{{First: uint16(1000 + i), Last: uint16(1100 + i)}},
		})
	}
	return append(all, &Match{})
}

// BenchmarkFirst says what it costs to match a new flow.
func BenchmarkFirst(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("watches=%d", n), func(b *testing.B) {
			ws := Compile(&Config{INT: &inthdr.Config{}, Matches: disjoint(n)})
			d := newDice(1, 2)
			keys := make([]flows.Key, 4096) // no branch predictor remembers them
			for i := range keys {
				k := &keys[i]
				k.SetIPv4(10<<24|d.Uint32N(1<<24), 10<<24|d.Uint32N(1<<24))
				k.SetPorts(4, 17, uint16(d.Uint32()), uint16(1000+d.UintN(200)))
			}
			for i := 0; b.Loop(); i++ {
				ws.First(&keys[i&4095], nil)
			}
		})
	}
}
