// Tick: what is due between bursts: ages flows, publishes counters, takes over what other
// goroutines have handed over.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// tickNs is how often a worker looks after everything that is not a packet.
const tickNs = 1e6

// Tick does what is due between bursts: age flows, send report packets that
// waited long enough, answer questions, take a new configuration, publish counters.
func (w *Worker) Tick(now int64) {
	w.reporter.Expire(now)
	if w.Questions.Serving() {
		w.Questions.Serve(now, w.pace.busy)
	}
	if now < w.nextTick {
		return
	}
	w.nextTick = now + tickNs
	w.control.beat.Store(now)
	w.age(now)
	w.detector.Saturate(now)
	w.detector.Sync(now)
	w.detector.Wall = w.reporter.Wall()
	for _, s := range w.stations {
		s.Tick(now)
	}
	w.detector.Lossy(now, w.rematch, func(f *flows.Flow) { w.stages.report.Flow(event.Loss.Set(), f, now) })
	w.detector.Sweep(now)
	w.detector.Stretch = w.reporter.Stretch(w.detector.Stretch, now)
	w.takeOver()
	w.stages.turns.Tick(now)
	w.tellLoop()
	if w.control.mu.TryLock() {
		w.publish()
		w.control.mu.Unlock()
	}
}

// age visits the places of the flow table that are due, so that each flow is
// looked at every few seconds without a burst ever waiting for it. It ends idle ones (flow_end).
func (w *Worker) age(now int64) {
	w.table.Age(now, func(f *flows.Flow) {
		w.rematch(f)
		if f.Watch != watch.None && w.detector.End(now, f) {
			w.stages.report.Flow(event.FlowEnd.Set(), f, now)
		}
		w.detector.Episodes().Forget(f)
	})
}

// rematch finds the watch of a flow that no packet came of since a reload.
func (w *Worker) rematch(f *flows.Flow) { w.stages.detect.Rematch(f, w.burst.Generation) }

// takeOver adopts the rules that were handed over since the last tick.
func (w *Worker) takeOver() {
	if p := w.control.pending.Load(); p != nil && w.control.pending.CompareAndSwap(p, nil) {
		w.adopt(p)
		w.control.adopted.Store(p.rules)
	}
}

// publish copies the counters for Snapshot.
func (w *Worker) publish() {
	c := &w.counters
	c.Detector = w.detector.Counters
	c.Flows = uint64(w.table.Len())
	c.Evictions, c.Refused = w.table.Evictions(), w.table.Refused()
	c.Stretch = w.detector.Stretch
	c.Pace = w.pace.now()
	w.control.published.copyFrom(c)
}
