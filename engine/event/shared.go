// State of queues, interfaces and links that holds over all workers: announced changes, taken
// over at Sync.

package event

import (
	"sync"
	"sync/atomic"

	"intsink/engine/clock"
	"intsink/engine/episode"
	"intsink/engine/series"
	"intsink/engine/usual"
	"intsink/flows"
)

// Shared holds the state of queues, interfaces and links that is one for all workers: episodes
// and their quota, the latency of a link last reported, and when. As long as there is no episode
// a detector uses its own tables only, and a packet takes no lock and no atomic. When a value
// reaches a threshold, and while an episode lasts, it takes the lock. Changes are announced, and
// the other detectors take them over at their next Sync.
type Shared struct {
	announced *atomic.Uint64 // changes so far; outside the Go heap, where C may read it
	anySlow   atomic.Bool    // some link was reported as slow, by what is usual
	warm      int64          // when the sink started again, after a moment in which it did not run; 0: it did not

	mu         sync.Mutex // guards all below
	queues     *flows.Small[sharedQueue]
	interfaces *flows.Small[sharedInterface]
	links      *flows.Small[sharedLink]
	busy       map[[2]uint64]Interface // those of interfaces that are; at most MaxInterfaces
	usual      *usual.Usual            // has a lock of its own
	episodes   *episode.Book           // the same
	clocks     *clock.Clocks           // the same
	series     *series.Places          // the same
	changes    [maxChanges]change      // change number n stands at n % maxChanges
}

// maxChanges are kept between two calls of Sync, which comes every millisecond or more often. A
// detector that missed a change of an episode gets it again while the episode lasts.
const maxChanges = 1024

type sharedQueue struct {
	Queue
	end                    episodeEnd
	occupancyAt, latencyAt int64  // when a packet of the episode last told them; 0: none did
	told                   int64  // when it was last announced
	news                   bool   // it is to be announced
	overAt                 int64  // the last packet of a burst that was over a threshold
	record                 uint32 // of the episode, in episodes; 0: none
	over                   uint64 // packets of the episode over its threshold
	next                   uint64 // which of them is shown next, however high its values are: 2, 4, 8 and so on
	shown                  uint32 // the value of the last that was reported for it
}

type sharedInterface struct {
	Interface
	told int64
}

type sharedLink struct {
	ref  uint32 // latency last reported, nanoseconds
	sent int64  // last report, Unix nanoseconds; 0: never
	slow slowLink
}

// change is a changed row of one of the tables.
type change struct {
	table sharedTable
	key   [2]uint64
}

type sharedTable uint8

const (
	sharedQueues sharedTable = iota
	sharedInterfaces
	sharedLinks
)

// NewShared returns the shared state of a sink that has seen no packet.
func NewShared(seed uint64) *Shared { return newShared(seed, allRoom) }

func newShared(seed uint64, c capacities) *Shared {
	return &Shared{
		announced:  newAnnounced(),
		queues:     flows.NewSmall(c.queues, seed, func(q *sharedQueue, now int64) bool { return q.holds(now) }),
		interfaces: flows.NewSmall(c.interfaces, seed, func(i *sharedInterface, now int64) bool { return i.holds(now) }),
		links:      flows.NewSmall[sharedLink](c.links, seed, nil),
		busy:       map[[2]uint64]Interface{},
		usual:      usual.New(seed),
		episodes:   episode.New(),
		clocks:     clock.New(seed),
		series:     series.NewPlaces(seed),
	}
}

// Episodes are what happened in congested queues, as d and the detectors that it shares with know it.
func (d *Detector) Episodes() *episode.Book { return d.shared.episodes }

// Clocks are those of nodes, as d and the detectors that it shares with see them.
func (d *Detector) Clocks() *clock.Clocks { return d.shared.clocks }

// Usual is what places usually do, as d and the detectors that it shares with learn it.
func (d *Detector) Usual() *usual.Usual { return d.shared.usual }

// Series is what places did in the last ten minutes and the last day, as d and the detectors that it shares with saw it.
func (d *Detector) Series() *series.Places { return d.shared.series }

// Warm says that the sink starts at now, Unix nanoseconds, and ran a moment ago: most flows that it is about to see are not
// new. It is to be called before the first packet.
func (s *Shared) Warm(now int64) { s.warm = now }

// Episodes are what happened in congested queues.
func (s *Shared) Episodes() *episode.Book { return s.episodes }

// Usual is what queues, hops, segments and paths usually do.
func (s *Shared) Usual() *usual.Usual { return s.usual }

// Series is what places did in the last ten minutes and the last day.
func (s *Shared) Series() *series.Places { return s.series }

// Close gives the memory back. No detector may be used after it.
func (s *Shared) Close() {
	s.queues.Close()
	closeAnnounced(s.announced)
	s.interfaces.Close()
	s.links.Close()
	s.usual.Close()
	s.clocks.Close()
	s.series.Close()
}

// announce makes other detectors take over a row. s is locked.
func (s *Shared) announce(d *Detector, table sharedTable, key [2]uint64) {
	n := s.announced.Load()
	s.changes[n%maxChanges] = change{table, key}
	if d.synced == n {
		d.synced++ // d knows
	}
	s.announced.Store(n + 1)
}

// Share makes d one of the detectors of s. It is to be called before the first packet.
func (d *Detector) Share(s *Shared) {
	if d.ownShared {
		d.shared.Close()
	}
	d.shared, d.ownShared, d.synced = s, false, s.announced.Load()
	d.tallies.Close()
	d.newTallies()
	d.view.setLimits(s.usual.Limits())
}

// Sync takes over what other workers have changed. It is to be called before each burst that is not
// package fast's alone, and every millisecond.
func (d *Detector) Sync(now int64) {
	if d.shared.announced.Load() != d.synced {
		d.takeOver(now)
	}
}

// Synced are how many of the announced changes were taken over.
func (d *Detector) Synced() uint64 { return d.synced }

// Announced is the number of changes so far. It is outside the Go heap.
func (d *Detector) Announced() *atomic.Uint64 { return d.shared.announced }

//go:noinline
func (d *Detector) takeOver(now int64) {
	s := d.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.announced.Load()
	for n := max(d.synced, max(end, maxChanges)-maxChanges); n < end; n++ {
		c := &s.changes[n%maxChanges]
		switch c.table {
		case sharedQueues:
			e, _ := s.queues.Get(now, c.key)
			q, _ := d.fabric.Queues.Get(now, c.key)
			q.take(&e.Queue)
			if q.Seen < e.Seen {
				q.Seen, q.Occupancy, q.Latency, q.Rest = e.Seen, e.Occupancy, e.Latency, e.Rest
			}
			d.mark(now, c.key, q)
			if t, _ := d.tallies.Of(c.key); t != nil {
				t.Goes = false
			}
		case sharedInterfaces:
			d.view.busy[d.view.busyPlace(c.key)].goes = false
			e, _ := s.interfaces.Get(now, c.key)
			i, _ := d.fabric.Interfaces.Get(now, c.key)
			if i.take(&e.Interface); i.Seen < e.Seen {
				i.Seen, i.Utilization, i.Percent = e.Seen, e.Utilization, e.Percent
			}
			if i.Busy && d.marksBusy {
				d.markInterface(c.key)
			}
		case sharedLinks:
			e, _ := s.links.Get(now, c.key)
			if k := d.fabric.Links.Find(c.key); k != nil && k.Ref != e.ref {
				k.Ref, k.Window = e.ref, 0
				k.settle(d.view.linkAbsolute)
			}
		}
	}
	d.synced = end
}

// take makes the episode of q that of e.
func (q *Queue) take(e *Queue) {
	q.Congested, q.Calm, q.Since, q.Ends, q.Full, q.Reports, q.Episodes, q.Window = e.Congested, e.Calm, e.Since, e.Ends, e.Full, e.Reports, e.Episodes, e.Window
}

// take makes the episode of i that of e.
func (i *Interface) take(e *Interface) {
	i.Busy, i.Reported, i.Below, i.Sent, i.Since, i.Window = e.Busy, e.Reported, e.Below, e.Sent, e.Since, e.Window
	i.Highest = max(i.Highest, e.Highest)
}
