// NetworkLook: what is wrong in the network of a capture, looked at each second of its time, as run does.

package simulate

import (
	"log/slog"
	"time"

	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/cmd/intsink/internal/problem"
	"intsink/conf"
	"intsink/engine/aside/inspect"
)

// lookEvery is how often it is looked whether something is wrong, in time of the capture.
const lookEvery = int64(time.Second)

// NetworkLook finds the problems of the network that the packets of a Worker come from.
type NetworkLook struct {
	worker   *Worker
	network  *network.Network
	problems *problem.List
	question *inspect.PendingQuery // nil: none
	known    *network.Known        // when it was asked
	next     int64
	notices  []inspect.Notice
}

// maxNotices is how many reports are taken up at a time.
const maxNotices = 1024

// Watch has w look at its network as time passes.
func (w *Worker) Watch(c *conf.Config) *NetworkLook {
	l := &NetworkLook{worker: w, network: network.New()}
	l.problems = problem.New(func() *slog.Logger { return slog.New(slog.DiscardHandler) }, nil)
	l.problems.Named = names.Of(&c.Names).Place
	w.Questions.Feed.Want(network.Wanted)
	w.look = l
	return l
}

// pass asks the worker when it is time, and judges what it answered. The worker answers while its time passes.
func (l *NetworkLook) pass() {
	w := l.worker
	l.observe()
	switch {
	case l.question != nil && l.question.Done():
		l.judge()
	case l.question == nil && w.Now >= l.next:
		l.ask()
	}
}

// observe takes up what was reported.
func (l *NetworkLook) observe() {
	l.notices, _ = l.worker.Questions.Feed.Take(l.notices[:0], maxNotices)
	for i := range l.notices {
		l.network.Observe(&l.notices[i])
	}
}

func (l *NetworkLook) ask() {
	l.next = l.worker.Now + lookEvery
	l.known = network.KnownBy(l.worker.Worker, l.worker.Now)
	l.question = &inspect.PendingQuery{Query: inspect.New(network.What, 0)}
	l.worker.Questions.Ask(l.question)
}

func (l *NetworkLook) judge() {
	now := time.Unix(0, l.worker.Now)
	l.problems.Look("network", l.network.Look([]*inspect.PendingQuery{l.question}, l.known, now), now)
	l.question = nil
}

// End looks a last time. The worker is closed: what it still reports is left out.
func (l *NetworkLook) End() {
	w := l.worker
	w.sealed = func(*SealedReport) {}
	l.observe()
	for asked := false; ; w.Now += tick {
		w.Tick(w.Now)
		w.Drain()
		if l.question != nil && l.question.Done() {
			l.judge()
			if asked {
				return
			}
		}
		if l.question == nil {
			l.ask()
			asked = true
		}
	}
}

// tick is how often a worker takes up a question.
const tick = int64(time.Millisecond)

// Problems are those of now, the oldest first, and those that are over, the last first.
func (l *NetworkLook) Problems() *problem.Answer { return l.problems.Answer() }
