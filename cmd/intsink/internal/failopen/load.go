// How loaded the workers of a sink are, and whether one hangs: what modes and the bypass switch go by.

package failopen

import (
	"fmt"
	"time"

	"intsink/engine"
)

// Stuck says which worker has not polled for so long, "" while all have.
func Stuck(workers []*engine.Worker, now int64, after time.Duration) string {
	for i, w := range workers {
		if late := time.Duration(now - w.Beat()); w.Beat() != 0 && late > after {
			return fmt.Sprintf("worker w%d has not polled for %v", i, after)
		}
	}
	return ""
}

// Meter reads how loaded workers are. One goroutine does.
type Meter struct {
	clock   func() int64
	workers []*engine.Worker
	at      int64
	last    []engine.Pace // of each worker
}

// NewMeter makes one of workers that go by clock.
func NewMeter(workers []*engine.Worker, clock func() int64) *Meter {
	return &Meter{clock: clock, workers: workers, last: make([]engine.Pace, len(workers))}
}

// Read is the load since the last call.
func (l *Meter) Read() Load {
	now := l.clock()
	passed := now - l.at
	var load Load
	for i, w := range l.workers {
		p, last := w.Snapshot().Pace, &l.last[i]
		if l.at != 0 && passed > 0 {
			load.Busy = max(load.Busy, share(p.BusyNs-last.BusyNs, passed))
			if polls := p.Polls[0] + p.Polls[1] - last.Polls[0] - last.Polls[1]; polls > 0 {
				full := p.Bursts[engine.BurstSizes-1] - last.Bursts[engine.BurstSizes-1]
				load.FullBursts = max(load.FullBursts, share(int64(full), int64(polls)))
			}
		}
		load.Gap = max(load.Gap, time.Duration(p.RecentNs))
		*last = p
	}
	l.at = now
	return load
}

// share returns part / whole, at most 1: a worker publishes its polls late, so that one period
// may get those of more than a period.
func share(part, whole int64) float64 { return min(float64(part)/float64(whole), 1) }
