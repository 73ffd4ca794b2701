// What other goroutines may call: Run, Stop, Reload, Snapshot, Beat, Close; how the worker
// publishes counters and takes over what they ask.

package engine

import (
	"math"
	"sync"
	"sync/atomic"

	"intsink/engine/clock"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/series"
	"intsink/engine/stage/detect"
	"intsink/engine/usual"
	"intsink/engine/watch"
)

// control is what other goroutines share with a worker: atomics, which the worker reads
// and writes between polls, and the copy of its counters that it publishes.
type control struct {
	stop    atomic.Bool
	beat    atomic.Int64
	pending atomic.Pointer[parts]
	adopted atomic.Pointer[Rules] // by the last reload

	mu        sync.Mutex // guards published; the worker only ever tries it
	published Counters
}

// Idle says what a worker does while there is nothing to do: once more than After polls in a row
// found nothing, it calls Sleep, and after each further one that finds nothing. Sleep may be nil.
type Idle struct {
	After int
	Sleep func()
}

// mostEmpty is how many polls in a row may find nothing before Sleep is called.
func (i *Idle) mostEmpty() uint64 {
	if i.Sleep == nil {
		return math.MaxUint64
	}
	return uint64(i.After)
}

// Run polls until Stop is called. When it returns, every open report packet is in its ring and
// every mbuf the worker held is free.
func (w *Worker) Run(idle Idle) {
	w.burst.Now = w.clock()
	w.pace.start(w.burst.Now)
	for !w.control.stop.Load() {
		found := false
		if w.mayLoop() {
			found = w.pollInC(&idle)
		} else {
			found = w.pollInGo()
		}
		w.Tick(w.burst.Now)
		if idle.Sleep != nil && !found && w.pace.empty > idle.After {
			idle.Sleep()
		}
	}
	w.Close()
}

// pollInGo polls all links once, and tells whether it found packets.
//
// The clock is read once per burst, when it is received. The pace takes the time of a poll's
// first burst, work that is due the time of its last. A poll without bursts reads the clock
// itself.
func (w *Worker) pollInGo() bool {
	if w.loop != nil {
		if began := w.loop.Restart(); began != 0 { // C has begun a poll of some links: Go polls all of them next
			w.pace.endPoll(true, began)
		}
	}
	found := w.Poll() > 0
	if !found {
		w.burst.Now = w.clock()
		w.pace.polled = w.burst.Now
	}
	w.pace.endPoll(found, w.pace.polled)
	return found
}

// Stop makes Run return after the burst at hand. Safe from any goroutine.
func (w *Worker) Stop() { w.control.stop.Store(true) }

// Reload hands over new rules; the worker adopts them between two bursts. Safe
// from any goroutine. Only what Rules hold can change while a worker runs.
func (w *Worker) Reload(r *Rules) { w.control.pending.Store(partsOf(r)) }

// ReloadCollectors does as Reload when collectors come, go or change places: outlets are those of
// r.Collectors, in that order. A collector whose outlet has the same ring or sender as before
// keeps its sequence numbers and counters. For a collector that is gone the worker hands over
// the open report packet, and does not use its outlet afterwards.
func (w *Worker) ReloadCollectors(r *Rules, outlets []reporting.Outlet) {
	p := partsOf(r)
	p.exchange = w.reporter.Prepare(append([]reporting.Outlet{}, outlets...), r.Collectors)
	w.control.pending.Store(p)
}

// PassAll makes packets pass as they came from the next tick on, both ways, with their INT,
// and without anything being known of them: that is all a worker does that cannot keep up.
// Rules drop none meanwhile. False ends it. Safe from any goroutine.
func (w *Worker) PassAll(pass bool) { w.stages.passAll.Ask(pass) }

// Adopted tells whether the worker has adopted r, which Reload handed over, and nothing
// since. Safe from any goroutine.
func (w *Worker) Adopted(r *Rules) bool { return w.control.adopted.Load() == r }

// FlowsByWatch returns how many new flows each watch took so far, in their order, and last those that none took. Only the
// worker's own goroutine may ask.
func (w *Worker) FlowsByWatch() *[watch.None + 1]uint64 { return w.stages.detect.Taken() }

// OddValues are the nodes that wrote values that cannot be.
func (w *Worker) OddValues() *detect.OddValues { return w.stages.detect.OddValues() }

// Snapshot copies the counters as they were when the worker last published
// them, at most a few milliseconds ago. Safe from any goroutine.
func (w *Worker) Snapshot() Counters {
	w.control.mu.Lock()
	defer w.control.mu.Unlock()
	c := newCounters(len(w.control.published.Links), len(w.control.published.Collectors))
	c.copyFrom(&w.control.published)
	return c
}

// Publish makes the counters of now those that Snapshot copies. It belongs to the
// goroutine that polls, between two polls.
func (w *Worker) Publish() {
	w.control.mu.Lock()
	w.publish()
	w.control.mu.Unlock()
}

// Beat is the time of the worker's last tick. Safe from any goroutine.
func (w *Worker) Beat() int64 { return w.control.beat.Load() }

// Close seals and hands over open report packets, frees what the worker holds and publishes
// the last counters. Run calls it; a caller of Poll must call it, too.
func (w *Worker) Close() {
	now := w.clock()
	w.Captures.Close()
	w.detector.EndTallies(now)
	w.reporter.Close(now)
	w.Publish()
}

// Episodes are what happened in congested queues, over all workers of the sink.
func (w *Worker) Episodes() *episode.Book { return w.detector.Episodes() }

// Series is what queues, hops, segments and paths did in the last ten minutes and the last day.
func (w *Worker) Series() *series.Places { return w.detector.Series() }

// Clocks are those of nodes, as all workers of the sink see them.
func (w *Worker) Clocks() *clock.Clocks { return w.detector.Clocks() }

// Busy are the busy interfaces that were seen since a time, as all workers of the sink know them, by the keys of event.Fabric.
func (w *Worker) Busy(since int64) map[[2]uint64]event.Interface { return w.detector.Busy(since) }

// Usual is what queues, hops, segments and paths usually do, as all workers of the sink learn it.
func (w *Worker) Usual() *usual.Usual { return w.detector.Usual() }

// ParseAll has every packet parsed until rules are reloaded: for tests and benchmarks.
func (w *Worker) ParseAll() {
	for _, p := range w.readings.paths {
		p.ParseAll()
	}
}

// Release gives the worker's memory back. Nothing may be called after it.
func (w *Worker) Release() {
	w.table.Close()
	w.detector.Close()
	w.Questions.Close()
	w.Recorder.Close()
}
