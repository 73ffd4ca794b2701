// What other goroutines may call: Run, Stop, Reload, Snapshot, Beat, Close; how the worker
// publishes counters and takes over what they ask.

package engine

import (
	"math"
	"sync"
	"sync/atomic"

	"intsink/engine/mitigate"
	"intsink/engine/reporting"
)

// control is what other goroutines share with a worker: atomics, which the worker reads
// and writes between polls, and the copy of its counters that it publishes.
type control struct {
	stop    atomic.Bool
	beat    atomic.Int64
	pending atomic.Pointer[adoption]
	adopted atomic.Pointer[Rules] // by the last reload

	changed         atomic.Bool // something below was handed over, or rules
	askedMitigation atomic.Pointer[mitigate.Table]
	inForce         atomic.Pointer[mitigate.Table] // of what was asked for
	askedPass       atomic.Bool
	askedCapture    atomic.Pointer[capturing]

	mu        sync.Mutex // guards the rest; the worker only ever tries it
	published Counters
	lastBad   BadPacket
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
	w.last = w.clock()
	w.burst.now, w.pace.started = w.last, w.last
	for !w.stop.Load() {
		found := false
		if w.mayLoop() {
			found = w.pollInC(&idle)
		} else {
			found = w.pollInGo()
		}
		w.Tick(w.burst.now)
		if idle.Sleep != nil && !found && w.empty > idle.After {
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
		w.endPollInC()
	}
	found := w.Poll() > 0
	if !found {
		w.polled = w.clock()
		w.burst.now = w.polled
	}
	w.endPoll(found, w.polled)
	return found
}

// endPoll counts a poll at now.
func (w *Worker) endPoll(found bool, now int64) {
	w.pace.note(now-w.last, now)
	w.pace.poll(found, w.empty == 0, now-w.last)
	w.last = now
	if w.empty++; found {
		w.empty = 0
	}
}

// Stop makes Run return after the burst at hand. Safe from any goroutine.
func (w *Worker) Stop() { w.stop.Store(true) }

// Reload hands over new rules; the worker adopts them between two bursts. Safe
// from any goroutine. Only what Rules hold can change while a worker runs.
func (w *Worker) Reload(r *Rules) { w.hand(w.newAdoption(r, nil)) }

// ReloadCollectors does as Reload when collectors come, go or change places: outlets are those of
// r.Collectors, in that order. A collector whose outlet has the same ring or sender as before
// keeps its sequence numbers and counters. For a collector that is gone the worker hands over
// the open report packet, and does not use its outlet afterwards.
func (w *Worker) ReloadCollectors(r *Rules, outlets []reporting.Outlet) {
	w.hand(w.newAdoption(r, append([]reporting.Outlet{}, outlets...)))
}

func (w *Worker) hand(a *adoption) {
	w.pending.Store(a)
	w.changed.Store(true)
}

// change takes over what other goroutines have handed over since the last tick.
//
//go:noinline
func (w *Worker) change() {
	w.changed.Store(false) // first: what is handed over from now on is seen by the next tick
	if r := w.pending.Swap(nil); r != nil {
		w.adopt(r)
		w.adopted.Store(r.rules)
		w.beginQuery()
	}
	w.mitigation, w.passing = w.askedMitigation.Load(), w.askedPass.Load()
	w.inForce.Store(w.mitigation)
	if x := w.askedCapture.Load(); x == nil || x.Ended() {
		w.endCapture()
	} else if x != w.capture {
		w.beginCapture(x)
	}
	w.setEvery()
}

// Adopted tells whether the worker has adopted r, which Reload handed over, and nothing
// since. Safe from any goroutine.
func (w *Worker) Adopted(r *Rules) bool { return w.adopted.Load() == r }

// Snapshot copies the counters as they were when the worker last published
// them, at most a few milliseconds ago. Safe from any goroutine.
func (w *Worker) Snapshot() Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := newCounters(len(w.published.Links), len(w.published.Collectors))
	c.copyFrom(&w.published)
	return c
}

// Publish makes the counters of now those that Snapshot copies. It belongs to the
// goroutine that polls, between two polls.
func (w *Worker) Publish() {
	w.mu.Lock()
	w.publish()
	w.mu.Unlock()
}

// Beat is the time of the worker's last tick. Safe from any goroutine.
func (w *Worker) Beat() int64 { return w.beat.Load() }

// Close seals and hands over open report packets, frees what the worker holds and publishes
// the last counters. Run calls it; a caller of Poll must call it, too.
func (w *Worker) Close() {
	now := w.clock()
	w.endCapture()
	w.reporter.Close(now)
	w.Publish()
}

// Release gives the worker's memory back. Nothing may be called after it.
func (w *Worker) Release() {
	w.table.Close()
	w.detector.Close()
	w.queries.paths.Close()
}

func (w *Worker) publish() {
	w.counters.Detector = w.detector.Counters
	w.counters.Flows = uint64(w.table.Len())
	w.counters.Evictions, w.counters.Refused = w.table.Evictions(), w.table.Refused()
	w.counters.Stretch = w.detector.Stretch
	w.counters.Pace = w.pace.Pace
	if w.pace.started != 0 && w.polled != 0 {
		w.counters.Pace.TotalNs = w.polled - w.pace.started
	}
	w.published.copyFrom(&w.counters)
}
