// Watcher: asks the workers each second, and makes problems of what they tell.

package network

import (
	"context"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/status"
	"intsink/engine"
	"intsink/engine/aside/inspect"
)

// Watcher looks at the network of a sink.
type Watcher struct {
	*Network
	Workers   []*engine.Worker
	Clock     func() int64 // of the workers
	WallClock func() int64 // by how much the wall clock is ahead of that; nil: by nothing
	Sweep     func()       // hands Observe what waits for it
	Tables    func(context.Context, inspect.What) ([]*inspect.PendingQuery, error)
	Problems  *problem.List
}

// lookPatience is how long the workers may take to tell what they know of the network; a list of flows that somebody asked
// for may take longer, and is waited for at the next look.
const lookPatience = 900 * time.Millisecond

// Look asks the workers. Where they do not answer, what was wrong stays so.
func (x *Watcher) Look(j *status.Status) {
	x.Missed(time.Unix(0, x.Clock()), missed(j))
	x.Deaf(time.Unix(0, x.Clock()), down(j))
	x.Sweep()
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	known := x.Known()
	known.Own = j.Node
	if tables, err := x.Tables(ctx, What); err == nil {
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
