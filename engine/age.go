// Ages flows between bursts: ends idle ones (flow_end), and finds the watch of those that no
// packet came of since a reload.

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

// rematch matches f against the rules in force if no packet of it came since they were
// adopted. Watches that ask for facts do not match without a packet; so f keeps its
// generation, and its next packet matches it again.
func (w *Worker) rematch(f *flows.Flow) {
	if f.Generation != w.generation {
		f.Watch = w.watches.First(&f.Key, nil)
	}
}
