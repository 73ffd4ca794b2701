//go:build !race

package engine

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/intgen"
	"intsink/flows"
)

// manyWatches are n that match nothing of the steady traffic, and one that does. ask:
// they look at what each packet brings.
func manyWatches(n int, ask bool) func(*Rules) {
	return func(r *Rules) {
		all, policy := r.Watches[0], r.Policies[0]
		r.Watches, r.Policies = nil, nil
		for i := range n - 1 {
			w := Watch{
				Source:          []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 16)},
				Destination:     []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i + 1), 0, 0}), 16)},
				Protocol:        []uint8{6, 17},
				DestinationPort: []PortRange{{uint16(1000 + i), uint16(1100 + i)}},
			}
			if ask {
				w.VLAN, w.DSCP, w.Device = []PortRange{{uint16(i + 1), uint16(i + 5)}}, []uint8{uint8(i % 63)}, []uint64{uint64(1000 + i)}
			}
			r.Watches, r.Policies = append(r.Watches, w), append(r.Policies, policy)
		}
		r.Watches, r.Policies = append(r.Watches, all), append(r.Policies, policy)
		if ask {
			r.Watches[n-1].VLAN = []PortRange{{0, 0}}
		}
	}
}

// BenchmarkWatches says what watches cost: a new flow to match, and a packet of a
// known flow, on its whole way, where they look at the key only and where they look at
// what each packet brings.
func BenchmarkWatches(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("new-flow/watches=%d", n), func(b *testing.B) {
			r := &Rules{Watches: []Watch{{Collectors: 1}}, Policies: []event.Policy{{}}}
			manyWatches(n, false)(r)
			ws := compileWatches(r)
			d := dice{rand.New(rand.NewPCG(1, 2))}
			keys := make([]flows.Key, 4096) // no branch predictor remembers them
			for i := range keys {
				k := &keys[i]
				k.SetIPv4(10<<24|d.Uint32N(1<<24), 10<<24|d.Uint32N(1<<24))
				k.SetPorts(4, 17, uint16(d.Uint32()), uint16(1000+d.UintN(200)))
			}
			for i := 0; b.Loop(); i++ {
				ws.match(&keys[i&4095], nil)
			}
		})
	}
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
		r.Watches[3].VNI, r.Watches[4].Layer = []VNIRange{{1, 2}}, InnerLayer
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
