// PendingQuery: a question to a worker, handed over by one atomic pointer, answered in slices
// between polls.

package engine

import (
	"slices"
	"sync/atomic"

	"intsink/engine/inspect"
)

// Work on questions, in units of about eight nanoseconds (inspect.Query): at most so
// much between two polls that find packets, some 4 us, and in a tick of a
// millisecond, some 35 us. A million flows take a second (BenchmarkQuestion).
const (
	sliceWork = 512
	tickWork  = 4096
)

// PendingQuery is a Query on its way to one worker and back.
type PendingQuery struct {
	*inspect.Query
	Rules *Rules // in force when it was answered

	done, dropped atomic.Bool
}

// Done reports whether the answer is complete; the Query is the worker's until then.
func (q *PendingQuery) Done() bool { return q.done.Load() }

// Drop cancels the query: its sender no longer waits for the answer.
func (q *PendingQuery) Drop() { q.dropped.Store(true) }

// Ask hands q to the worker, which answers it between bursts. One at a time: a
// later question takes the place of one that the worker has not finished. Safe from
// any goroutine.
func (w *Worker) Ask(q *PendingQuery) { w.queries.asked.Store(q) }

// queries is what a worker keeps in order to answer.
type queries struct {
	asked   atomic.Pointer[PendingQuery]
	serving *PendingQuery // nil: none
	work    int           // that may still be done in this tick
	busy    bool          // the last poll found packets
	paths   *inspect.Paths
	source  inspect.Source
	feed    inspect.Feed
}

// nextQuery starts a tick's work: it takes the question that was asked last.
func (w *Worker) nextQuery() {
	s := &w.queries
	s.work = tickWork
	if q := s.asked.Load(); q != nil && s.asked.CompareAndSwap(q, nil) {
		s.serving = q
		w.beginQuery()
	}
}

// begin starts the answer to the question at hand, for the first time or because
// there are other rules now: what it holds has to be of one set of rules.
func (w *Worker) beginQuery() {
	q := w.queries.serving
	if q == nil {
		return
	}
	w.queries.source = inspect.Source{Table: w.table, Things: w.detector.Fabric(), Paths: w.queries.paths, Generation: w.generation}
	q.Begin(slices.IndexFunc(w.rules.Watches, func(x Watch) bool { return x.Name == q.Filter.Watch }))
}

// serveQuery does one slice of the question at hand, a larger one where no packet came.
//
//go:noinline
func (w *Worker) serveQuery(now int64) {
	s := &w.queries
	if s.serving.dropped.Load() {
		s.serving = nil
		return
	}
	slice := s.work
	if s.busy {
		slice = min(slice, sliceWork)
	}
	if slice <= 0 {
		return
	}
	left, done := s.serving.Step(&s.source, now, slice)
	s.work -= slice - left
	if done {
		s.serving.Rules = w.rules
		s.serving.done.Store(true)
		s.serving = nil
	}
}
