// WorkerConfig, and NewWorker, which makes a worker of it.

package engine

import (
	"intsink/engine/aside"
	"intsink/engine/aside/capture"
	"intsink/engine/aside/checksum"
	"intsink/engine/aside/inspect"
	"intsink/engine/aside/mitigate"
	"intsink/engine/aside/passall"
	"intsink/engine/aside/recorder"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/stage/detect"
	"intsink/engine/stage/lookup"
	"intsink/engine/stage/match"
	"intsink/engine/stage/parse"
	"intsink/engine/stage/report"
	"intsink/engine/stage/strip"
	"intsink/engine/stage/tonetwork"
	"intsink/engine/stage/transmit"
	"intsink/flows"
)

// WorkerConfig is what one worker owns and, but for Buckets and Shared, never shares.
type WorkerConfig struct {
	Links      []burst.Link
	Outlets    []reporting.Outlet // one per collector, in Rules.Collectors' order
	Shared     *Shared            // what all workers hold together; nil: the worker is the only one
	Stations   []burst.Station    // those of all ports by which reports leave
	PacketPool burst.Pool         // frees packets; any pool can free the mbufs of every pool
	ReportPool burst.Pool         // report packets are born here
	NodeID     uint32
	HwID       uint8
	Instance   uint64 // of the sink, for report.Identity; 0: reports do not say
	QueueID    uint8  // rx queue of every link, in the sink's own metadata
	Flows      flows.Config
	Seed       uint64       // keys the hashes and the jitter
	Clock      func() int64 // Unix nanoseconds, which never step; called once per burst
	LoopClock  int64        // nanoseconds to add to CLOCK_MONOTONIC to get Clock, never too many; 0: it is another clock, and C does not poll
	WallClock  func() int64 // by how much the wall clock has stepped since; nil: it has not
	Recorder   int          // bytes of memory for the flight recorder; 0: it is off
	Rules      *Rules
}

// NewWorker makes a worker; it allocates everything the worker will ever use.
func NewWorker(c WorkerConfig) *Worker {
	w := &Worker{
		clock: c.Clock, stations: c.Stations, rules: c.Rules,
		table:    flows.New(c.Flows),
		detector: event.New(c.Rules.policies(), c.Seed),
		counters: newCounters(len(c.Links), len(c.Outlets)),
	}
	w.control.published = newCounters(len(c.Links), len(c.Outlets))
	w.serve(c.Links, c.Shared)
	w.table.OnEvict(w.detector.Episodes().Forget)
	w.burst = burst.New()
	if len(w.links) > 0 {
		w.burst.Link = &w.links[0]
	}
	w.reporter = reporting.New(&reporting.Config{
		Outlets: c.Outlets, Pool: c.ReportPool, NodeID: c.NodeID, HwID: c.HwID, Instance: c.Instance, QueueID: c.QueueID,
		WallClock: c.WallClock, Counters: &w.counters.Counters,
	}, &c.Rules.Report, c.Rules.Collectors)
	w.addAsides(&c)
	w.addStages(&c)
	w.loop = newLoop(w.links, w.detector, c.LoopClock)
	p := partsOf(c.Rules)
	w.detector.Adopt(p.detect.Policies, p.detect.Models)
	w.adoptParts(p)
	return w
}

// serve makes the worker serve links, whose limits it shares with others.
func (w *Worker) serve(links []burst.Link, shared *Shared) {
	if shared == nil {
		shared = &Shared{links: make([]burst.Limits, len(links))}
	} else {
		w.detector.Share(shared.fabric)
	}
	for i := range links {
		w.links = append(w.links, burst.Served{Link: &links[i], Index: i, Counters: &w.counters.Links[i].Counters, Limits: &shared.links[i]})
	}
}

// addAsides makes what looks at bursts now and then, in the order in which they see one.
func (w *Worker) addAsides(c *WorkerConfig) {
	taps := true
	for i := range w.links {
		taps = taps && w.links[i].Host == nil
	}
	marks := aside.NewMarks(w.table)
	w.stages.marks = marks
	w.Captures = capture.NewAside(w.detector, marks)
	drops := mitigate.NewAside(int(c.QueueID), w.table, marks, ofEach(w, func(l *LinkCounters) *mitigate.LinkCounters { return &l.Mitigation }))
	w.Questions = inspect.NewAside(w.table, w.detector, c.Seed)
	w.Verification = verify.New(ofEach(w, func(l *LinkCounters) *verify.Counters { return &l.Verify }), taps)
	sample := checksum.New(ofEach(w, func(l *LinkCounters) *checksum.Counters { return &l.Checksum }), taps)
	pass := passall.New(ofEach(w, func(l *LinkCounters) *passall.Counters { return &l.PassAll }))
	w.Recorder = recorder.New(c.Recorder, c.Clock(), w.detector, &w.counters.Recorder)
	w.stages.captures, w.stages.dropper, w.stages.passAll, w.stages.recorder, w.stages.detector = w.Captures, &drops.Dropper, pass, w.Recorder, w.detector
	w.stages.turns = aside.New(pass, drops, w.Captures, sample, w.Verification, w.Questions)
}

// AsideOf returns the aside of w that is a T; the zero value of T: none is. Other goroutines may use what it says they may.
func AsideOf[T aside.Aside](w *Worker) (none T) {
	for _, a := range w.stages.turns.All() {
		if a, ok := a.(T); ok {
			return a
		}
	}
	return none
}

// addStages makes the stages, and hands each what it shares with others.
func (w *Worker) addStages(c *WorkerConfig) {
	s := &w.stages
	s.match = match.New(w.detector, c.Seed)
	s.parse = parse.New(w.table, ofEach(w, func(l *LinkCounters) *parse.Counters { return &l.Parse }))
	s.detect = detect.New(w.detector, w.Questions.Paths, c.Seed)
	s.lookup = lookup.New(w.table, s.marks.Fresh)
	s.report = report.New(report.Config{
		Reporter: w.reporter, Detector: w.detector, Table: w.table, Paths: w.Questions.Paths, Feed: &w.Questions.Feed, Recorder: w.Recorder,
		Clock: func() int64 { return w.clock() }, Seed: c.Seed, Links: len(w.links),
	})
	s.strip = strip.New()
	s.transmit = transmit.New(c.PacketPool)
	s.fromHost = tonetwork.New(ofEach(w, func(l *LinkCounters) *tonetwork.Counters { return &l.ToNetwork }))
}

// ofEach returns the counters that of finds among those of each link.
func ofEach[C any](w *Worker, of func(*LinkCounters) *C) (all []*C) {
	for i := range w.counters.Links {
		all = append(all, of(&w.counters.Links[i]))
	}
	return all
}
