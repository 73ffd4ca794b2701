// Rules: everything that a reload can change, immutable; adoption of new rules by a worker
// between two bursts.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Rules is everything of the configuration that can change while the engine
// runs. It is immutable: a reload hands the workers a new one.
type Rules struct {
	INT           inthdr.Config
	DropMalformed bool
	Leak          LeakPolicy
	LeakMark      MarkPolicy
	Own           []*INTRules           // of links that have them, in place of the four above, in the order of WorkerConfig.Links; else nil
	DropInterval  int64                 // nanoseconds between two drop reports of packets that belong to no flow
	Watches       []Watch               // first match wins
	Devices       []watch.DeviceField   // what watches take for the id of a device
	NodeModels    []event.NodeModel     // what the values of nodes mean
	Collectors    []reporting.Collector // traffic to them is never watched
	Verify        int                   // one INT packet in so many has its checksums verified; 0: none
	Report        reporting.Rules
	IdleTimeout   int64 // nanoseconds without a packet that end a flow; 0: as the table was made
	InnerKeys     bool  // flows in tunnels are told apart by what is inside, and by VNI
	Suspended     bool  // Watches are left out for a while, and packets of their flows not seen
}

// Suspend is r without its watches: INT goes, and nothing else happens. Flows that rules
// with watches find later have missed packets: nothing is made of the gap in their sequence.
func (r *Rules) Suspend() *Rules {
	s := *r
	s.Watches, s.Suspended = nil, true
	return &s
}

// adoption is what a worker gets at a reload: the rules, and tables made of them, which take
// longer to make than a worker may pause.
type adoption struct {
	rules    *Rules
	watches  *watch.Watches
	devices  watch.Devices
	models   *event.CompiledModels
	exchange *reporting.Exchange // nil: the collectors are as they were
}

// newAdoption makes of r, and of the outlets of its collectors, all that the worker does not
// have to make itself.
func (w *Worker) newAdoption(r *Rules, outlets []reporting.Outlet) *adoption {
	a := &adoption{rules: r, watches: compileWatches(r), devices: devicesOf(r), models: event.CompileModels(r.NodeModels)}
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
	w.rules, w.eventCollectors = r, eventCollectorsOf(r, len(w.links))
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
	w.setReadings(r)
	w.detector.Adopt(r.policies(), a.models)
}
