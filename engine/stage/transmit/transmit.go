// Package transmit gathers what leaves of a burst, offers again what a port refused (bounded
// retries), counts what is lost and why; taps.
package transmit

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/flows"
)

// Stage is the stage of one worker.
type Stage struct{ pool burst.Pool }

// New makes the stage of a worker; pool frees packets.
func New(pool burst.Pool) *Stage { return &Stage{pool} }

// Gather returns what is to be transmitted of the burst, v[:n], in order, and frees the rest.
func (s *Stage) Gather(b *burst.Burst) (v *mbuf.Vec, n int) {
	if b.NDrop == 0 {
		return b.Vec, b.N
	}
	return s.withoutDropped(b)
}

//go:noinline
func (s *Stage) withoutDropped(b *burst.Burst) (v *mbuf.Vec, n int) {
	v = b.Kept
	for i := range b.N {
		if b.Verdict[i] != burst.Consumed {
			v[n] = b.Vec[i]
			n++
		}
	}
	s.Free(b)
	return v, n
}

// Free frees the packets that were dropped.
func (s *Stage) Free(b *burst.Burst) {
	s.pool.FreeBulk(b.Drop, b.NDrop)
	b.NDrop = 0
}

// Retry offers the rest of v[:n] again; out has taken the first sent. It returns how many have left.
// What the port still refuses is dropped and left to report; then Free is to be called.
func (s *Stage) Retry(b *burst.Burst, out burst.Queue, v *mbuf.Vec, n, sent int) int {
	var l refused
	sent = retrySend(out, v, b.Drop, n, sent, &l)
	b.NDrop = l.n
	flowOf := b.FlowOf()
	place, next := 0, 0
	for i := 0; i < b.N && next < l.n; i++ {
		if b.Verdict[i] == burst.Consumed {
			continue
		}
		if place == int(l.place[next]) {
			s.leave(b, i, flowOf[i], next, l.why[next])
			next++
		}
		place++
	}
	return sent
}

// leave counts packet i, which the port refused and is Drop[at], and leaves it to report.
func (s *Stage) leave(b *burst.Burst, i int, f *flows.Flow, at int, why burst.DropReason) {
	b.Link.Counters.Direction[b.Direction].Dropped[why]++
	b.Leave(burst.Left{I: uint8(i), Frame: b.Drop[at], Flow: f, Event: burst.NoEvent, Dropped: true, Why: why})
}

// Tapped frees a burst of a tap.
func (s *Stage) Tapped(b *burst.Burst) {
	b.Link.Counters.Direction[burst.ToHost].Dropped[burst.DropTap] += uint64(b.N - b.NDrop)
	s.pool.FreeBulk(b.Vec, b.N)
	b.NDrop = 0
}
