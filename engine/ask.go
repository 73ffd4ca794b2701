// AskAll: asks every worker a query and waits for the answers.

package engine

import (
	"context"
	"fmt"
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
