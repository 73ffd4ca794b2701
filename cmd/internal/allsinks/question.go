// questions: what all sinks are asked, once for everybody who wants to know it at the same time.

package allsinks

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// reply is what one sink answers: an object, or an error.
type reply struct {
	sink *sink
	o    object
	err  error
}

// question is a path that all sinks are asked, and what they answered. Its replies are read by many: nobody changes them.
type question struct {
	ofOne   bool // it is about one thing by its id: who does not know it has answered
	began   time.Time
	done    chan struct{}
	replies []reply

	merge  sync.Once // what is made of the replies is made once, too
	merged object
	failed error
}

// questions are those of now, by path.
type questions struct {
	mu  sync.Mutex
	all map[string]*question
}

// fresh is how long an answer is given to whoever asks the same: a sink is asked the same once in this time at most.
const fresh = time.Second

// freshStatus is fresh for the status: of two answers, half a second apart, commands make rates.
const freshStatus = 400 * time.Millisecond

// freshOf is how long the answer to path is fresh.
func freshOf(path string) time.Duration {
	if path == statusPath {
		return freshStatus
	}
	return fresh
}

// mostQuestions is how many different questions may be under way or fresh.
const mostQuestions = 64

// errBusy says that too much is asked at once.
var errBusy = errors.New("too many different questions at once; ask again in a second")

// ask asks all sinks for path, or takes the answers that came within the last second.
func (s *Sinks) ask(ctx context.Context, path string, limit time.Duration) (*question, error) {
	q, begin, err := s.questions.find(path, s.o.Now())
	if err != nil {
		return nil, err
	}
	if begin {
		go s.askEach(q, path, limit)
	}
	select {
	case <-q.done:
		return q, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the question about path that is under way or fresh, or a new one, which its caller has to begin.
func (qs *questions) find(path string, now time.Time) (q *question, begin bool, err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q := qs.all[path]; q != nil && (!q.over() || now.Sub(q.began) < freshOf(path)) {
		return q, false, nil
	}
	for p, old := range qs.all {
		if old.over() && now.Sub(old.began) >= fresh {
			delete(qs.all, p)
		}
	}
	if len(qs.all) >= mostQuestions {
		return nil, false, errBusy
	}
	if qs.all == nil {
		qs.all = map[string]*question{}
	}
	q = &question{ofOne: isOfOne(path), began: now, done: make(chan struct{})}
	qs.all[path] = q
	return q, true, nil
}

// isOfOne tells whether a path ends in the id of a flow, path, queue or node.
func isOfOne(path string) bool {
	what, _, _ := strings.Cut(path, "?")
	return strings.Count(what, "/") == 4 && !strings.HasPrefix(what, "/api/v1/history/")
}

func (q *question) over() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// askEach asks every sink, and is done when all have answered, or at the limit.
func (s *Sinks) askEach(q *question, path string, limit time.Duration) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	sinks, room := s.all(), newRoom()
	replies := make([]reply, len(sinks))
	var wait sync.WaitGroup
	for i, x := range sinks {
		replies[i].sink = x
		if err := x.away(s.o.Now()); err != nil {
			replies[i].err = err
			x.probe(s.o.Now, limit)
			continue
		}
		wait.Go(func() {
			began := s.o.Now()
			o, err := x.ask(ctx, path, room)
			if x.answered(s.o.Now(), err); err == nil && path == statusPath {
				x.identify(o, began, s.o.Now())
			}
			replies[i].o, replies[i].err = o, err
		})
	}
	wait.Wait()
	q.replies = s.once(replies)
}

// Partial is a sink that an answer is without.
type Partial struct {
	Sink string `json:"sink"`
	Why  string `json:"why"`
}

// partial are the sinks that did not answer. One that says that it knows no such flow did; one that knows no such question is of another version.
func (q *question) partial() (all []Partial) {
	for _, r := range q.replies {
		if r.err != nil && !(q.ofOne && r.knowsNone()) {
			all = append(all, Partial{r.sink.name, cleanText(r.err.Error())})
		}
	}
	return all
}

// knowsNone tells whether the sink answers that it knows no such flow, node, queue or path.
func (r *reply) knowsNone() bool {
	var said *refusal
	return errors.As(r.err, &said) && said.status == http.StatusNotFound
}

// answers are the replies that came.
func (q *question) answers() (all []reply) {
	for _, r := range q.replies {
		if r.err == nil {
			all = append(all, r)
		}
	}
	return all
}

// refused is what a sink says is wrong with the question itself, where no sink answers it; nil: nothing.
func (q *question) refused() error {
	var worst error
	for _, r := range q.replies {
		var said *refusal
		if r.err == nil {
			return nil
		}
		if errors.As(r.err, &said) && (said.status == http.StatusBadRequest || said.status == http.StatusNotFound) && worst == nil {
			worst = said
		}
	}
	return worst
}
