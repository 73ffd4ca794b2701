// AskAll asks every worker and waits; PendingQuery is handed over by one atomic pointer.

package inspect

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"intsink/engine/event"
	"intsink/engine/watch"
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
func AskAll(ctx context.Context, workers []*Aside, newQuery func(worker int) *Query) ([]*PendingQuery, error) {
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

// PendingQuery is a Query on its way to one worker and back.
type PendingQuery struct {
	*Query
	Watches    []watch.Watch // of the rules in force when it was answered
	KnowsLoads bool          // they have the unit of some node's utilization

	done, dropped atomic.Bool
}

// Done reports whether the answer is complete. Until then only the worker may use the Query.
func (q *PendingQuery) Done() bool { return q.done.Load() }

// Congested reports whether v is in an episode.
func (q *PendingQuery) Congested(v *event.Queue) bool { return v.InEpisode(q.Now) }

// Auto reports whether thresholds of congestion are made of what is usual.
func (q *PendingQuery) Auto() bool {
	return slices.ContainsFunc(q.Watches, func(w watch.Watch) bool { return w.Policy.Thresholds.CongestionFactor != 0 })
}

// Drop cancels the query: its sender no longer waits for the answer.
func (q *PendingQuery) Drop() { q.dropped.Store(true) }
