package engine

import (
	"intsink/engine/inthdr"
	"intsink/engine/watch"
)

// adoption is what a worker is handed at a reload: rules, and what takes longer to
// make of them than a worker may pause.
type adoption struct {
	rules    *Rules
	watches  *watch.Watches
	devices  watch.Devices
	outboxes []outbox // one per collector of rules; nil: the collectors are as they were
	counters []CollectorCounters
}

// newAdoption makes of r, and of the outlets of its collectors, all that the worker does not
// have to make itself.
func (w *Worker) newAdoption(r *Rules, outlets []Outlet) *adoption {
	a := &adoption{rules: r, watches: compileWatches(r), devices: devicesOf(r)}
	if outlets == nil {
		return a
	}
	a.outboxes, a.counters = make([]outbox, len(outlets)), make([]CollectorCounters, len(outlets))
	for i := range outlets {
		a.outboxes[i] = w.reporter.kind.outboxOf(&outlets[i])
		a.counters[i].Name = r.Collectors[i].Name
	}
	return a
}

// adopt makes a the rules of this worker. Flows keep their state; each is
// matched against the new watches when its next packet comes.
func (w *Worker) adopt(a *adoption) {
	r := a.rules
	w.reporter.adopt(a, w.clock())
	w.rules, w.eventCollectors = r, eventCollectorsOf(r)
	w.watches, w.devices = a.watches, a.devices
	w.generation++
	w.locator = inthdr.NewLocator(r.INT)
	w.fast.Configure(w.locator.Marks())
	w.detector.SetRules(r.policies(), r.NodeModels)
}
