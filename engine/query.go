// Questions to workers: AskAll asks every one and waits; PendingQuery is handed over by one
// atomic pointer and answered in slices between polls.

package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"intsink/engine/inspect"
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

// AskAll asks every worker the query that newQuery makes for it, and waits for all
// answers; a *NoAnswer where ctx ends before. Only one AskAll may run at a time:
// a worker keeps one question.
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
