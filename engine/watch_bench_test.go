//go:build !race

package engine

import (
	"fmt"
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/watch"
	"intsink/engine/wire/intgen"
)

// manyWatches are n that match nothing of the steady traffic, and one that does. ask:
// they look at what each packet brings.
func manyWatches(n int, ask bool) func(*Rules) {
	return func(r *Rules) {
		all := r.Watches[0]
		r.Watches = nil
		for i := range n - 1 {
			w := watch.Watch{Match: watch.Match{
				Source:          []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 16)},
				Destination:     []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i + 1), 0, 0}), 16)},
				Protocol:        []uint8{6, 17},
				DestinationPort: []watch.PortRange{{First: uint16(1000 + i), Last: uint16(1100 + i)}},
			}}
			if ask {
				w.VLAN, w.DSCP, w.Device = []watch.PortRange{{First: uint16(i + 1), Last: uint16(i + 5)}}, []uint8{uint8(i % 63)}, []uint64{uint64(1000 + i)}
			}
			w.Policy = all.Policy
			r.Watches = append(r.Watches, w)
		}
		r.Watches = append(r.Watches, all)
		if ask {
			r.Watches[n-1].VLAN = []watch.PortRange{{First: 0, Last: 0}}
		}
	}
}

// BenchmarkWatches measures the cost of watches for a packet of a known flow, from rx to tx:
// watches that match by the key alone, and watches that match by facts of each packet.
func BenchmarkWatches(b *testing.B) {
	for _, ask := range []bool{false, true} {
		for _, n := range []int{1, 10, 100} {
			name := map[bool]string{false: "key", true: "packet"}[ask]
			b.Run(fmt.Sprintf("%s/watches=%d", name, n), func(b *testing.B) {
				w, _, bed := steadyBed(b, manyWatches(n, ask))
				for i := 0; i < b.N; i += mbuf.MaxBurst {
					bed.now += 1000
					w.Poll()
				}
			})
		}
	}
}

// TestWatchesAllocateNothing, whatever they ask for and however often they change.
func TestWatchesAllocateNothing(t *testing.T) {
	w, q, b := steadyBed(t, func(r *Rules) {
		manyWatches(100, true)(r)
		r.Watches[3].VNI, r.Watches[4].Layer = []watch.VNIRange{{First: 1, Last: 2}}, watch.InnerLayer
	})
	for i := range q.frames {
		q.frames[i] = withINT(t, plain(i%7), func(_ *intgen.Source, h []intgen.Hop) { h[0].NodeID = uint32(1000 + i%100) })
	}
	poll := func() {
		b.now += 1000
		w.Poll()
	}
	for range 50 {
		poll()
	}
	if n := testing.AllocsPerRun(200, poll); n != 0 {
		t.Errorf("%v allocations per burst", n)
	}
}
