// Questions to workers: AskAll asks every one and waits; PendingQuery is handed over by one
// atomic pointer and answered in slices between polls.

package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"intsink/engine/episode"
	"intsink/engine/inspect"
	"intsink/engine/series"
	"intsink/engine/usual"
)

// NoAnswer is the error of a worker that did not answer in time.
type NoAnswer struct {
	Worker int
	Err    error // of the context
}

func (e *NoAnswer) Error() string {
	return fmt.Sprintf("worker w%d did not answer: %v", e.Worker, e.Err)
}

func (e *NoAnswer) Unwrap() error { return e.Err }

// askInterval is how often AskAll looks for answers: workers never signal.
const askInterval = time.Millisecond

// AskAll asks every worker the query that newQuery makes for it, and waits for all answers. If
// ctx ends before, the error is a *NoAnswer. Only one AskAll may run at a time: a worker has
// one question.
func AskAll(ctx context.Context, workers []*Worker, newQuery func(worker int) *inspect.Query) ([]*PendingQuery, error) {
	questions := make([]*PendingQuery, len(workers))
	for i, w := range workers {
		questions[i] = &PendingQuery{Query: newQuery(i)}
		w.Ask(questions[i])
	}
	tick := time.NewTicker(askInterval)
	defer tick.Stop()
	for i, q := range questions {
		for !q.Done() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				for _, q := range questions[i:] {
					q.Drop()
				}
				return nil, &NoAnswer{i, ctx.Err()}
			}
		}
	}
	return questions, nil
}

// Most work on questions, in units of about eight nanoseconds (inspect.Query): sliceWork (1 us)
// between two polls that find packets, tickWork (35 us) in a tick of a millisecond. An answer
// about a million flows takes a second (BenchmarkQuestion).
const (
	sliceWork = 128
	tickWork  = 4096
)

// PendingQuery is a Query on its way to one worker and back.
type PendingQuery struct {
	*inspect.Query
	Watches []Watch // of the rules in force when it was answered

	done, dropped atomic.Bool
}

// Done reports whether the answer is complete. Until then only the worker may use the Query.
func (q *PendingQuery) Done() bool { return q.done.Load() }

// Drop cancels the query: its sender no longer waits for the answer.
func (q *PendingQuery) Drop() { q.dropped.Store(true) }

// Ask hands q to the worker, which answers it between bursts. A worker has one question at a
// time: a later one takes the place of one that is not answered yet. Any goroutine may call it.
func (w *Worker) Ask(q *PendingQuery) { w.queries.asked.Store(q) }

// Episodes are what happened in congested queues, over all workers of the sink.
func (w *Worker) Episodes() *episode.Book { return w.detector.Episodes() }

// Series is what queues, hops, segments and paths did in the last ten minutes and the last day.
func (w *Worker) Series() *series.Places { return w.detector.Series() }

// Usual is what queues, hops, segments and paths usually do, as all workers of the sink learn it.
func (w *Worker) Usual() *usual.Usual { return w.detector.Usual() }

// queries is the state of the questions that a worker answers.
type queries struct {
	asked   atomic.Pointer[PendingQuery]
	serving *PendingQuery // nil: none
	work    int           // units of work that may still be done in this tick
	busy    bool          // the last poll found packets
	paths   *inspect.Paths
	source  inspect.Source
	feed    inspect.Feed
}

// nextQuery allows the work of a tick, and takes the question that was asked last, if any.
func (w *Worker) nextQuery() {
	s := &w.queries
	s.work = tickWork
	if q := s.asked.Load(); q != nil && s.asked.CompareAndSwap(q, nil) {
		s.serving = q
		w.beginQuery()
	}
}

// beginQuery begins the answer to the question at hand, or begins it again after a reload: an
// answer must hold watches and flows of one set of rules.
func (w *Worker) beginQuery() {
	q := w.queries.serving
	if q == nil {
		return
	}
	w.queries.source = inspect.Source{Table: w.table, Things: w.detector.Fabric(), Paths: w.queries.paths, Generation: w.generation}
	q.Begin(slices.IndexFunc(w.rules.Watches, func(x Watch) bool { return x.Name == q.Filter.Watch }))
}

// serveQuery does one slice of the answer, a larger one if the last poll found no packets.
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
		s.serving.Watches = w.rules.Watches
		s.serving.done.Store(true)
		s.serving = nil
	}
}
