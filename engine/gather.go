// Runs: packets of a burst that are reported alike are gathered and reported together.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/inthdr"
)

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others. The run is empty where the first packet is not INT-MD, or its
// fragment goes beyond its first buffer.
func (w *Worker) gather(b *burst, left uint64) (rest uint64) {
	r, j := &w.scratch.run, bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)
	r.Clear()
	first := alike{set: b.events[j], watch: b.watch[j], edge: b.edges >> j & 1}
	s := shape{at: fast.None}
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		if b.events[j] != first.set || b.watch[j] != first.watch || b.edges>>j&1 != first.edge {
			break
		}
		i := b.fast.At[j] & (mbuf.MaxBurst - 1)
		m := b.vec[i]
		if at := b.fast.Template[j]; at == fast.None || at != s.at {
			next := w.shapeOf(b, uint8(j))
			if next.info.Type != inthdr.MD || r.Len() > 0 && (next.inType != s.inType || next.info.DomainID != s.info.DomainID) {
				break
			}
			s = next
		}
		to := s.to(m)
		if to > m.DataLen() {
			break
		}
		r.Add(j, m.Bytes()[s.from:to])
	}
	if r.Len() > 0 {
		r.Set, r.Priority = first.set, first.set.Priority(first.edge != 0)
		r.Collectors, r.Info, r.InType = w.rules.Watches[first.watch].Collectors, s.info, s.inType
		r.Flows, r.Hashes, r.Triggers = &b.fast.Flows, &b.fast.Hashes, &b.trigger
	}
	return left
}

// alike is what packets of a run have in common, besides their domain and the type of their
// fragment.
type alike struct {
	set   event.Set
	watch uint8
	edge  uint64
}
