// Puts what is reported into the feed of /api/v1/events, while somebody reads.

package engine

import (
	"math/bits"

	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/flows"
)

// Feed is where a reader of any other goroutine takes what the worker reports.
func (w *Worker) Feed() *inspect.Feed { return &w.queries.feed }

// feedBurst puts every packet of b that is reported into the feed.
//
//go:noinline
func (w *Worker) feedBurst(b *burst) {
	for left := b.reportable; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		w.queries.feed.Put(b.now, b.cause[j].set(), b.fast.Flows[j], w.queries.paths)
	}
}

// feedReport puts a report that no packet of the burst shows into the feed, where
// somebody reads it.
func (w *Worker) feedReport(set event.Set, f *flows.Flow, now int64) {
	if w.queries.feed.On() {
		w.queries.feed.Put(now, set, f, w.queries.paths)
	}
}
