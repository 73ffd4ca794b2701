// Shared: what the workers of a sink hold together: limits per port, queues, links and interfaces.

package engine

import (
	"intsink/engine/burst"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/series"
	"intsink/engine/usual"
)

// Shared is the state that all workers of a sink share: limits per port, queue, link and
// interface. A worker touches it only when it reports or withholds something.
type Shared struct {
	fabric *event.Shared
	links  []burst.Limits
}

// NewShared is for workers of so many links and taps. seed keys the hashes of its tables.
func NewShared(links int, seed uint64) *Shared {
	return &Shared{fabric: event.NewShared(seed), links: make([]burst.Limits, links)}
}

// Warm says that the sink starts at now, Unix nanoseconds, and ran a moment ago. It is to be called before the first packet.
func (s *Shared) Warm(now int64) { s.fabric.Warm(now) }

// Episodes are what happened in congested queues.
func (s *Shared) Episodes() *episode.Book { return s.fabric.Episodes() }

// Usual is what queues, hops, segments and paths usually do, as all workers learn it.
func (s *Shared) Usual() *usual.Usual { return s.fabric.Usual() }

// Series is what queues, hops, segments and paths did in the last ten minutes and the last day, as all workers saw it.
func (s *Shared) Series() *series.Places { return s.fabric.Series() }

// Close gives the memory back, once all workers are released.
func (s *Shared) Close() { s.fabric.Close() }
