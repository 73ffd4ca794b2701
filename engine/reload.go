package engine

import (
	"intsink/engine/inthdr"
	"intsink/engine/watch"
)

// adoption is what a worker is handed at a reload: rules, and what takes longer to
// make of them than a worker may pause.
type adoption struct {
	rules   *Rules
	watches *watch.Watches
}

// adopt makes a the rules of this worker. Flows keep their state; each is
// matched against the new watches when its next packet comes.
func (w *Worker) adopt(a *adoption) {
	r := a.rules
	w.reporter.adopt(r, w.clock())
	w.rules, w.eventCollectors = r, eventCollectorsOf(r)
	w.watches = a.watches
	w.generation++
	w.locator = inthdr.NewLocator(r.INT)
	w.fast.Configure(w.locator.Marks())
	w.detector.SetRules(r.policies(), r.NodeModels)
}
