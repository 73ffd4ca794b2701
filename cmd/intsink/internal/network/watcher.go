// Watcher: the part of a sink that asks the workers each second, and makes problems of what they tell.

package network

import (
	"context"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/learned"
	"intsink/cmd/intsink/internal/part"
	"intsink/cmd/intsink/internal/status"
	"intsink/engine"
	"intsink/engine/aside/inspect"
	"intsink/engine/event"
)

// Watcher looks at the network of a sink.
type Watcher struct {
	*Network
	Workers   []*engine.Worker
	Clock     func() int64 // of the workers
	WallClock func() int64 // by how much the wall clock is ahead of that; nil: by nothing
	Problems  *problem.List

	reports Reports
	answers Answers
}

// Reports is the part that has what workers report.
type Reports interface {
	Observe(of event.Set, f func(*inspect.Notice))
	Sweep() (missed uint64)
}

// Answers is the part that asks the workers.
type Answers interface {
	Tables(context.Context, inspect.What) ([]*inspect.PendingQuery, error)
}

// Start implements part.Part: it takes up the changes of before a restart.
func (x *Watcher) Start(e *part.Env) (stop func(), err error) {
	x.Network, x.Workers, x.Clock, x.WallClock, x.Problems = New(), e.Workers, e.Clock, e.WallClock, e.Problems
	x.reports, x.answers = part.Find[Reports](e), part.Find[Answers](e)
	x.reports.Observe(Wanted, x.Network.Observe)
	_, end := learned.Keep(e.State, e.Instance, learned.File{
		Name: "changes", Version: 1, What: "the changes of paths", Every: time.Minute, Oldest: 7 * 24 * time.Hour,
		Encode: func(int64) []byte { return x.EncodeChanges() },
		Decode: func(b []byte, now int64) error { return x.DecodeChanges(b, time.Unix(0, now)) },
	})
	return func() { end() }, nil
}

// lookPatience is how long the workers may take to tell what they know of the network; a list of flows that somebody asked
// for may take longer, and is waited for at the next look.
const lookPatience = 900 * time.Millisecond

// Look implements part.Looks: it asks the workers. Where they do not answer, what was wrong stays so.
func (x *Watcher) Look(j *status.Status) {
	x.Missed(time.Unix(0, x.Clock()), missed(j))
	x.Deaf(time.Unix(0, x.Clock()), down(j))
	x.reports.Sweep()
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	known := x.Known()
	known.Own = j.Node
	if tables, err := x.answers.Tables(ctx, What); err == nil {
		x.Judge(tables, known)
	}
}

// missed is how many packets the ports could not receive.
func missed(j *status.Status) (n uint64) {
	for i := range j.Ports {
		n += j.Ports[i].RxMissed + j.Ports[i].RxNoMbuf
	}
	return n
}

// down are the ports whose links are.
func down(j *status.Status) (all []string) {
	for i := range j.Ports {
		if p := &j.Ports[i]; p.LinkDown != "" {
			all = append(all, p.Name)
		}
	}
	return all
}

// Known is what all workers together know.
func (x *Watcher) Known() *Known {
	if len(x.Workers) == 0 {
		return &Known{}
	}
	now := x.Clock()
	if x.WallClock != nil {
		now += x.WallClock()
	}
	return KnownBy(x.Workers[0], now)
}

// Judge makes problems of what the workers told.
func (x *Watcher) Judge(tables []*inspect.PendingQuery, known *Known) {
	now := time.Unix(0, x.Clock())
	x.Problems.Look("network", x.Network.Look(tables, known, now), now)
}
