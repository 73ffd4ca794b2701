package fast

import (
	"slices"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/intgen"
)

// TestLook: of packets that are as their flow's last one, the one that is asked for is Go's, and no other.
func TestLook(t *testing.T) {
	all := make([][]byte, mbuf.MaxBurst) // of another flow each: those behind a flow's packet that is Go's are so, too
	for i := range all {
		all[i] = marked(t, intgen.NthFlow(i, false, false), 0xe000, 2)
	}
	for _, portable := range []bool{false, true} {
		w := newWorld(t, anyMarking(intgen.ByPort, false), []event.Policy{{Events: event.NewFlow.Set() | event.PathChange.Set(), Thresholds: event.Thresholds{NewFlowRate: 1, Paths: 2}}}, portable)
		for range 4 {
			w.of(all...)
		}
		for _, n := range []int{1, 2, 7, mbuf.MaxBurst} {
			for look := range uint8(mbuf.MaxBurst + 1) {
				frames, lens := make([][]byte, n), make([]int, n)
				for i := range frames {
					frames[i], lens[i] = slices.Clone(all[i]), len(all[i])
				}
				w.burst(1e18, frames, lens, 0) // settled
				w.receive(1e18, frames, lens, look)
				want := []uint8{}
				if look > 0 {
					want = append(want, (look-1)%uint8(n))
				}
				if got := w.Deferred(); !slices.Equal(got, want) && len(got)+len(want) > 0 {
					t.Fatalf("portable %v, %d packets, look %d: Go gets %v, want %v", portable, n, look, got, want)
				}
			}
		}
	}
}
