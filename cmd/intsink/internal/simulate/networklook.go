// NetworkLook: what is wrong in the network of a capture, looked at each second of its time, as run does.

package simulate

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/names"
	"intsink/cmd/intsink/internal/network"
	"intsink/conf"
	"intsink/engine/aside/inspect"
	"intsink/engine/usual"
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

	Unknown string // of what nobody can tell at the end whether it was wrong; "": everything was looked at
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
	stands := w.Now <= w.Begin
	l.observe()
	for asked := false; ; w.Now += tick {
		w.Tick(w.Now)
		w.Drain()
		if l.question != nil && l.question.Done() {
			l.judge()
			if asked {
				l.Unknown = w.unknown(stands)
				w.Close()
				w.Drain()
				return
			}
		}
		if l.question == nil {
			l.ask()
			asked = true
		}
	}
}

// unknown says of what nobody can tell whether it was wrong, for want of time, of latencies or of packets.
func (w *Worker) unknown(stands bool) string {
	hops, lines := w.Usual().Believed(usual.Hop), w.Usual().Believed(usual.Segment)
	switch places := func(h, l int) string {
		return strings.TrimPrefix(some(h, hops.All, "hops")+some(l, lines.All, "segments"), " and ")
	}; {
	case stands:
		return "all packets have the same time, so that nobody can tell what changed"
	case hops.Learning == hops.All:
		return fmt.Sprintf("nobody can tell what is slow: no hop told %d latencies in the samples that are taken of packets, so that none has a usual one", usual.Few)
	case hops.Learning > 0:
		return fmt.Sprintf("of %d of %d hops nobody can tell whether they are slow: fewer than %d of their node's packets were among the samples, or it has been slow since the begin", hops.Learning, hops.All, usual.Few)
	case hops.Doubtful+lines.Doubtful > 0:
		return places(hops.Doubtful, lines.Doubtful) + " take long, and have done since the begin: whether that is as it should be nobody can tell"
	case hops.Began+lines.Began > 0:
		return places(hops.Began, lines.Began) + " took far longer at the begin than later: since when they had, nobody can tell"
	}
	return ""
}

// some is so many of all things, behind others; of none nothing.
func some(n, all int, things string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d of %d %s", n, all, things)
}

// tick is how often a worker takes up a question.
const tick = int64(time.Millisecond)

// Problems are those of now, the oldest first, and those that are over, the last first.
func (l *NetworkLook) Problems() *problem.Answer { return l.problems.Answer() }
