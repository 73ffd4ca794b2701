// Shared: what the workers of a sink hold together: limits per port, drops that belong to
// no flow.

package engine

import (
	"sync/atomic"

	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
)

// Shared is the state that all workers of a sink share: limits per port, queue, link and
// interface. A worker touches it only when it reports or withholds something.
type Shared struct {
	fabric *event.Shared
	links  []linkLimits
}

// linkLimits keeps when events of no flow were last reported for the ports of one link.
type linkLimits struct {
	lastReported [event.NumEvents]atomic.Int64             // when malformed, leak and unknown_domain were last reported
	drops        [NumDirections][NumDropReasons]dropsSince // of packets that belong to no flow
}

// NewShared is for workers of so many links and taps. seed keys the hashes of its tables.
func NewShared(links int, seed uint64) *Shared {
	return &Shared{fabric: event.NewShared(seed), links: make([]linkLimits, links)}
}

// Episodes are what happened in congested queues.
func (s *Shared) Episodes() *episode.Book { return s.fabric.Episodes() }

// Usual is what queues, hops, segments and paths usually do, as all workers learn it.
func (s *Shared) Usual() *usual.Usual { return s.fabric.Usual() }

// Close gives the memory back, once all workers are released.
func (s *Shared) Close() { s.fabric.Close() }

// dropsSince are packets that the sink dropped for one reason since it last said
// so.
type dropsSince struct {
	n    atomic.Uint32
	sent atomic.Int64 // 0: never
}

// due counts one more and reports whether it is to be reported, with how many there
// were since the last report: the first, then one per interval.
func (d *dropsSince) due(now, interval int64) (n uint32, ok bool) {
	d.n.Add(1)
	if last := d.sent.Load(); last != 0 && now-last < interval || !d.sent.CompareAndSwap(last, now) {
		return 0, false
	}
	return d.n.Swap(0), true
}
