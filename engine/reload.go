// Adoption of new rules by a worker between two bursts.

package engine

import (
	"intsink/engine/inthdr"
	"intsink/engine/reporting"
	"intsink/engine/watch"
)

// adoption is what a worker is handed at a reload: rules, and what takes longer to
// make of them than a worker may pause.
type adoption struct {
	rules    *Rules
	watches  *watch.Watches
	devices  watch.Devices
	exchange *reporting.Exchange // nil: the collectors are as they were
}

// newAdoption makes of r, and of the outlets of its collectors, all that the worker does not
// have to make itself.
func (w *Worker) newAdoption(r *Rules, outlets []reporting.Outlet) *adoption {
	a := &adoption{rules: r, watches: compileWatches(r), devices: devicesOf(r)}
	if outlets != nil {
		a.exchange = w.reporter.Prepare(outlets, r.Collectors)
	}
	return a
}

// adopt makes a the rules of this worker. Flows keep their state; each is
// matched against the new watches when its next packet comes.
func (w *Worker) adopt(a *adoption) {
	r := a.rules
	w.reporter.Adopt(&r.Report, r.Collectors, a.exchange, w.clock())
	w.rules, w.eventCollectors = r, eventCollectorsOf(r)
	w.setWatches(a.watches)
	w.devices = a.devices
	w.turns.setInterval(r.Verify)
	if w.capture != nil {
		w.capture.resolve(r)
	}
	w.generation++
	if w.blind.adopt(r.Suspended, w.generation) {
		w.generation++ // what is matched by these rules is never taken for matched before them
	}
	if r.IdleTimeout > 0 {
		w.table.SetIdleTimeout(r.IdleTimeout)
	}
	w.locator = inthdr.NewLocator(r.INT)
	w.fast.Configure(w.locator.Marks())
	w.detector.SetRules(r.policies(), r.NodeModels)
}
