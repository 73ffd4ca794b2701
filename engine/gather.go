// Gathers packets of a burst that are reported alike into Runs, and has them reported
// together.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/fast"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
)

// shed counts the first packet of left, and those after it that are reported for the same
// cause, as shed, where no collector takes a report of it: nothing else is done for them. It
// returns the others.
func (w *Worker) shed(b *burst, left uint64) (rest uint64) {
	c := b.cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)]
	collectors := w.rules.Watches[c.watch()].Collectors
	if b.now >= w.reporter.RefusedUntil(collectors, c.priority()) {
		return left
	}
	for rest = left; rest != 0; rest &= rest - 1 {
		if b.cause[bits.TrailingZeros64(rest)&(mbuf.MaxBurst-1)] != c {
			break
		}
	}
	w.reporter.Shed(c.set(), collectors, c.priority(), &b.fast.Flows, left&^rest, b.now)
	return rest
}

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others. The run is empty where the first packet is not INT-MD, or its
// fragment goes beyond its first buffer.
func (w *Worker) gather(b *burst, left uint64) (rest uint64) {
	r, c := &w.scratch.run, b.cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)]
	r.N, r.Cuts = 0, 0
	var s shape
	for left != 0 && b.cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)] == c {
		next := w.shapeOf(b, uint8(bits.TrailingZeros64(left)))
		if !next.goesOn(&s, r.N) {
			break
		}
		if rest = gatherShape(r, b, left, c, &next); rest == left {
			break
		}
		left, s = rest, next
	}
	if r.N > 0 {
		r.Set, r.Priority = c.set(), c.priority()
		r.Collectors, r.Info, r.InType = w.rules.Watches[c.watch()].Collectors, s.info, s.inType
		r.Flows, r.Hashes, r.Triggers = &b.fast.Flows, &b.fast.Hashes, &b.trigger
	}
	return left
}

// goesOn reports whether packets of this shape may follow in a run of n packets; last is the
// shape of the run's last packet.
func (s *shape) goesOn(last *shape, n int) bool {
	return s.info.Type == inthdr.MD && (n == 0 || s.inType == last.inType && s.info.DomainID == last.info.DomainID)
}

// gatherShape puts the first packet of left, which is of shape s, into the run, and those after
// it that are of its cause and header template, as long as their fragments are in one buffer.
// It returns the others.
//
//go:noinline
func gatherShape(r *reporting.Run, b *burst, left uint64, c cause, s *shape) (rest uint64) {
	f, vec, n := b.fast.State, b.vec, r.N
	at, from, most, end := s.at, s.from, min(s.most, s.end), uint16(s.intEnd())
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		if b.cause[j] != c || f.Template[j] != at {
			break
		}
		m := vec[f.At[j]&(mbuf.MaxBurst-1)]
		inner := m.Part(from, min(m.PktLen(), most)-from)
		if inner == nil {
			break
		}
		r.Inner[n&(mbuf.MaxBurst-1)], r.Number[n&(mbuf.MaxBurst-1)], r.INTEnd[n&(mbuf.MaxBurst-1)] = inner, uint8(j), end
		if n++; at == fast.None { // the next has a shape of its own
			left &= left - 1
			break
		}
	}
	if int(end) > most-from {
		r.Cuts |= (1<<n - 1) &^ (1<<r.N - 1)
	}
	r.N = n
	return left
}
