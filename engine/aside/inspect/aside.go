// Aside: answers questions to one worker, in slices between polls.

package inspect

import (
	"slices"
	"sync/atomic"

	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// Most work on questions, in units of about eight nanoseconds (Query): sliceWork (1 us)
// between two polls that find packets, tickWork (35 us) in a tick of a millisecond. An answer
// about a million flows takes a second (BenchmarkQuestion).
const (
	sliceWork = 128
	tickWork  = 4096
)

// Aside answers the questions to one worker.
type Aside struct {
	Paths *Paths
	Feed  Feed // of what the worker reports

	table    *flows.Table
	detector *event.Detector
	watches  []watch.Watch // of the rules in force
	source   Source

	asked   atomic.Pointer[PendingQuery]
	serving *PendingQuery // nil: none
	now     int64         // of this tick
	place   int           // in table, where it goes on to look which paths flows are on
	look    func(*flows.Flow) int
	work    int // units of work that may still be done in this tick
}

// NewAside makes the aside of a worker with this flow table and detector; Adopt gives it its
// rules. seed keys the hashes of paths.
func NewAside(table *flows.Table, detector *event.Detector, seed uint64) *Aside {
	a := &Aside{Paths: NewPaths(seed), table: table, detector: detector}
	a.look = a.refresh
	return a
}

// Close gives the memory back.
func (a *Aside) Close() { a.Paths.Close() }

// Ask hands q to the worker, which answers it between bursts. A worker has one question at a
// time: a later one takes the place of one that is not answered yet. Any goroutine may call it.
func (a *Aside) Ask(q *PendingQuery) { a.asked.Store(q) }

// Adopt makes watches those of the rules in force, which are of this generation. The answer at
// hand begins again: it must hold watches and flows of one set of rules.
func (a *Aside) Adopt(watches []watch.Watch, generation uint16) {
	a.watches = watches
	a.source = Source{Table: a.table, Things: a.detector.Fabric(), Paths: a.Paths, Generation: generation}
	a.begin()
}

// Tick allows the work of a tick, and takes the question that was asked last, if any.
func (a *Aside) Tick(now int64) {
	a.Paths.Saturate(now)
	if a.Paths.Len() >= Crowded {
		a.now = now
		a.place, _ = a.table.Walk(a.place, refreshWork, a.look)
	}
	a.work = tickWork
	if q := a.asked.Load(); q != nil && a.asked.CompareAndSwap(q, nil) {
		a.serving = q
		a.begin()
	}
}

// begin begins the answer to the question at hand.
func (a *Aside) begin() {
	if q := a.serving; q != nil {
		q.Begin(slices.IndexFunc(a.watches, func(x watch.Watch) bool { return x.Name == q.Filter.Watch }))
	}
}

// Serving tells whether there is a question at hand.
func (a *Aside) Serving() bool { return a.serving != nil }

// Serve does one slice of the answer, a larger one if the last poll found no packets: it was not
// busy.
//
//go:noinline
func (a *Aside) Serve(now int64, busy bool) {
	if a.serving.dropped.Load() {
		a.serving = nil
		return
	}
	slice := a.work
	if busy {
		slice = min(slice, sliceWork)
	}
	if slice <= 0 {
		return
	}
	left, done := a.serving.Step(&a.source, now, slice)
	a.work -= slice - left
	if done {
		a.serving.Watches, a.serving.KnowsLoads = a.watches, a.detector.KnowsLoads()
		a.serving.done.Store(true)
		a.serving = nil
	}
}

// Due implements aside.Aside: questions are about flows, not about packets.
func (a *Aside) Due(*burst.Burst, int64) bool { return false }

// Arrived implements aside.Aside.
func (a *Aside) Arrived(*burst.Burst) {}

// Leaving implements aside.Aside.
func (a *Aside) Leaving(*burst.Burst) {}

// Next implements aside.Aside.
func (a *Aside) Next() (packets, at int64) { return aside.Never, aside.Never }
