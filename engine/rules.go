// Rules: everything that a reload can change, immutable; each stage's part of them, which a worker
// adopts between two bursts.

package engine

import (
	"intsink/engine/aside/capture"
	"intsink/engine/aside/recorder"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/stage/detect"
	"intsink/engine/stage/report"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Rules is everything of the configuration that can change while the engine
// runs. It is immutable: a reload hands the workers a new one.
type Rules struct {
	INT           inthdr.Config
	DropMalformed bool
	Leak          tonetwork.LeakPolicy
	LeakMark      tonetwork.MarkPolicy
	Own           []*INTRules           // of links that have them, in place of the four above, in the order of WorkerConfig.Links; else nil
	DropInterval  int64                 // nanoseconds between two drop reports of packets that belong to no flow
	Watches       []watch.Watch         // first match wins
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

// policies returns the policies of all watches.
func (r *Rules) policies() []event.Policy {
	all := make([]event.Policy, len(r.Watches))
	for i := range r.Watches {
		all[i] = r.Watches[i].Policy
	}
	return all
}

// watchConfig is what watches are compiled of.
func (r *Rules) watchConfig() *watch.Config {
	c := &watch.Config{INT: r.domains(), Devices: r.Devices, InnerKeys: r.InnerKeys}
	for i := range r.Collectors {
		if a := r.Collectors[i].Address; a.IsValid() { // else its name has none yet
			c.Collectors = append(c.Collectors, a)
		}
	}
	for i := range r.Watches {
		c.Matches = append(c.Matches, &r.Watches[i].Match)
	}
	return c
}

// Matcher is what holds recorded packets of so many links against filters, by these rules.
func (r *Rules) Matcher(links int) *recorder.Matcher {
	locators := make([]*inthdr.Locator, links)
	for i := range locators {
		locators[i] = inthdr.NewLocator(r.INT)
		if own := r.own(i); own != nil {
			locators[i] = inthdr.NewLocator(own.INT)
		}
	}
	return recorder.NewMatcher(locators, watch.NewDevices(r.watchConfig()))
}

// parts are rules as each stage and aside gets its part of them, with tables made of them, which
// take longer to make than a worker may pause.
type parts struct {
	rules    *Rules
	detect   detect.Rules
	report   report.Rules
	capture  capture.Rules
	exchange *reporting.Exchange // nil: the collectors are as they were
}

// partsOf takes time and memory; it is not for the packet path.
func partsOf(r *Rules) *parts {
	c := r.watchConfig()
	ws := watch.Compile(c)
	p := &parts{
		rules:   r,
		detect:  detect.Rules{Watches: ws, Policies: r.policies(), Models: event.CompileModels(r.NodeModels)},
		report:  report.Rules{Report: &r.Report, Watches: ws, InnerKeys: r.InnerKeys, DropInterval: r.DropInterval},
		capture: capture.Rules{Watches: r.Watches, Devices: watch.NewDevices(c), InnerKeys: r.InnerKeys},
	}
	for i := range r.Watches {
		x := &r.Watches[i]
		p.report.Policies = append(p.report.Policies, report.Policy{Match: &x.Match, Events: x.Policy.Events, Collectors: x.Collectors})
		p.detect.Events = append(p.detect.Events, x.Policy.Events)
	}
	return p
}

// adopt makes p the rules of this worker. Flows keep their state; each is
// matched against the new watches when its next packet comes.
func (w *Worker) adopt(p *parts) {
	r := p.rules
	w.reporter.Adopt(&r.Report, r.Collectors, p.exchange, w.clock())
	if r.IdleTimeout > 0 {
		w.table.SetIdleTimeout(r.IdleTimeout)
	}
	w.stages.detect.Begin(w.burst, r.Suspended)
	w.adoptParts(p)
	w.detector.Adopt(p.detect.Policies, p.detect.Models)
}

// adoptParts hands each stage and aside its part.
func (w *Worker) adoptParts(p *parts) {
	w.rules = p.rules
	w.burst.Watched = len(p.rules.Watches) > 0
	w.setReadings(p.rules)
	s := &w.stages
	s.match.Adopt(p.detect.Watches)
	s.detect.Adopt(p.detect)
	s.report.Adopt(p.report)
	w.Captures.Adopt(p.capture)
	s.dropper.Adopt(p.capture.Devices, w.burst.Watched, p.rules.InnerKeys)
	w.Verification.Adopt(p.rules.Verify)
	w.Recorder.Adopt(p.rules.Watches)
	w.Questions.Adopt(p.rules.Watches, w.burst.Generation)
}
