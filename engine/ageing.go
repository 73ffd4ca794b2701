// Flows end: visits the places of the flow table that are due; flow_end.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/flows"
)

// age visits the places of the flow table that are due, so that each flow is
// looked at every few seconds without a burst ever waiting for it.
func (w *Worker) age(now int64) {
	w.table.Age(now, func(f *flows.Flow) {
		w.rematch(f)
		if f.Watch != watch.None && w.detector.End(now, f) {
			w.reportFlow(event.FlowEnd.Set(), f, now)
		}
	})
}

// rematch gives f a watch of the rules in force where no packet has come since they
// are: a watch that asks for more than the key then has none, until one comes. So the
// generation stays as it is.
func (w *Worker) rematch(f *flows.Flow) {
	if f.Generation != w.generation {
		f.Watch = w.watches.First(&f.Key, nil)
	}
}
