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
	r, f := &w.scratch.run, b.fast.State
	j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
	first := alike{set: b.events[j], watch: b.watch[j], edge: b.edges >> j & 1}
	s, n, shortest := shape{at: fast.None}, 0, wholePacket
	for vec := b.vec; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		if b.events[j] != first.set || b.watch[j] != first.watch || b.edges>>j&1 != first.edge {
			break
		}
		if at := f.Template[j]; at == fast.None || at != s.at {
			next := w.shapeOf(b, uint8(j))
			if !next.goesOn(&s, n) {
				break
			}
			s = next
		}
		m := vec[f.At[j]&(mbuf.MaxBurst-1)]
		size := min(m.PktLen(), s.end, s.most) - s.from
		inner := m.Part(s.from, size)
		if inner == nil {
			break
		}
		shortest = min(shortest, size)
		r.Inner[n&(mbuf.MaxBurst-1)], r.Number[n&(mbuf.MaxBurst-1)] = inner, uint8(j)
		n++
	}
	if r.N, r.Shortest = n, shortest; n > 0 {
		r.Set, r.Priority = first.set, first.set.Priority(first.edge != 0)
		r.Collectors, r.Info, r.InType = w.rules.Watches[first.watch].Collectors, s.info, s.inType
		r.Flows, r.Hashes, r.Triggers = &f.Flows, &f.Hashes, &b.trigger
	}
	return left
}

// goesOn reports whether packets of this shape belong to a run of n packets, the last of
// which is of shape last.
func (s *shape) goesOn(last *shape, n int) bool {
	return s.info.Type == inthdr.MD && (n == 0 || s.inType == last.inType && s.info.DomainID == last.info.DomainID)
}

// alike is what packets of a run have in common, besides their domain and the type of their
// fragment.
type alike struct {
	set   event.Set
	watch uint8
	edge  uint64
}
