// Gathers packets of a burst that are reported alike into Runs, and has them reported
// together.

package report

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/reporting"
)

// shed counts the first packet of left, and those after it that are reported for the same
// cause, as shed, where no collector takes a report of it: nothing else is done for them. It
// returns the others.
func (s *Stage) shed(b *burst.Burst, left uint64) (rest uint64) {
	c := b.Cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)]
	collectors := s.rules.Policies[c.Watch()].Collectors
	if b.Now >= s.Reporter.RefusedUntil(collectors, c.Priority()) {
		return left
	}
	rest = b.Alike(left)
	s.Reporter.Shed(c.Set(), collectors, c.Priority(), &b.Fast.Flows, left&^rest, b.Now)
	return rest
}

// gather makes the first packet of left, and those after it that are reported alike, the
// run, and returns the others. The run is empty where the first packet is not INT-MD, or its
// fragment goes beyond its first buffer.
func (s *Stage) gather(b *burst.Burst, left uint64) (rest uint64) {
	r, c := &s.run, b.Cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)]
	r.N, r.Cuts = 0, 0
	var last shape
	for left != 0 && b.Cause[bits.TrailingZeros64(left)&(mbuf.MaxBurst-1)] == c {
		next := s.shapeOf(b, uint8(bits.TrailingZeros64(left)))
		if !next.goesOn(&last, r.N) {
			break
		}
		if rest = gatherShape(r, b, left, c, &next); rest == left {
			break
		}
		left, last = rest, next
	}
	if r.N > 0 {
		r.Set, r.Priority = c.Set(), c.Priority()
		r.Collectors, r.Info, r.InType = s.rules.Policies[c.Watch()].Collectors, last.info, last.inType
		r.Flows, r.Hashes, r.Triggers = &b.Fast.Flows, &b.Fast.Hashes, &b.Trigger
	}
	return left
}

// goesOn reports whether packets of this shape may follow in a run of n packets; last is the
// shape of the run's last packet.
func (s *shape) goesOn(last *shape, n int) bool {
	return s.info.Type.HasHops() && (n == 0 || s.inType == last.inType && s.info.DomainID == last.info.DomainID)
}

// gatherShape puts the first packet of left, which is of shape s, into the run, and those after
// it that are of its cause and header template, as long as their fragments are in one buffer.
// It returns the others.
//
//go:noinline
func gatherShape(r *reporting.Run, b *burst.Burst, left uint64, c burst.Cause, s *shape) (rest uint64) {
	f, vec, n := b.Fast.State, b.Vec, r.N
	at, from, most, end := s.at, s.from, min(s.most, s.end), uint16(s.intEnd())
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		if b.Cause[j] != c || f.Template[j] != at {
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
