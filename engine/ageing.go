package engine

import (
	"intsink/engine/event"
	"intsink/flows"
)

// age visits the slots of the flow table that are due, so that each flow is
// looked at every few seconds without a burst ever waiting for it.
func (w *Worker) age(now int64) {
	w.table.Age(now, func(f *flows.Flow) {
		if f.Generation != w.generation {
			f.Generation = w.generation
			f.Watch = w.watches.match(&f.Key, nil)
		}
		if f.Watch != NoWatch && w.detector.End(now, f) {
			w.reportFlow(event.FlowEnd.Set(), f, now)
		}
	})
}
