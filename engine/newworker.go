// WorkerConfig, and NewWorker, which makes a worker of it.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/flows"
)

// WorkerConfig is what one worker owns and, but for Buckets and Shared, never shares.
type WorkerConfig struct {
	Links      []Link
	Outlets    []reporting.Outlet // one per collector, in Rules.Collectors' order
	Shared     *Shared            // what all workers hold together; nil: the worker is the only one
	Stations   []Station          // those of all ports by which reports leave
	PacketPool Pool               // frees packets; any pool can free the mbufs of every pool
	ReportPool Pool               // report packets are born here
	NodeID     uint32
	HwID       uint8
	Instance   uint64 // of the sink, for report.Identity; 0: reports do not say
	QueueID    uint8  // rx queue of every link, in the sink's own metadata
	Flows      flows.Config
	Seed       uint64       // keys the hashes and the jitter
	Clock      func() int64 // Unix nanoseconds, which never step; called once per burst
	LoopClock  int64        // nanoseconds to add to CLOCK_MONOTONIC to get Clock, never too many; 0: it is another clock, and C does not poll
	WallClock  func() int64 // by how much the wall clock has stepped since; nil: it has not
	Rules      *Rules
}

// NewWorker makes a worker; it allocates everything the worker will ever use.
func NewWorker(c WorkerConfig) *Worker {
	w := &Worker{
		pool: c.PacketPool, clock: c.Clock, stations: c.Stations,
		table:    flows.New(c.Flows),
		detector: event.New(c.Rules.policies(), c.Seed),
		facts:    watch.NewFacts(c.Seed),
		activeRules: activeRules{
			rules:           c.Rules,
			eventCollectors: eventCollectorsOf(c.Rules, len(c.Links)),
			devices:         devicesOf(c.Rules),
		},
		number:   c.QueueID,
		scratch:  scratch{observation: new(event.Observation)},
		counters: newCounters(len(c.Links), len(c.Outlets)),
		control:  control{published: newCounters(len(c.Links), len(c.Outlets))},
	}
	w.setWatches(compileWatches(c.Rules))
	w.detector.SetRules(c.Rules.policies(), c.Rules.NodeModels)
	w.readings = []*reading{w.newReading()}
	w.burst = newBurst(w.readings[0].fast)
	w.queries.paths = inspect.NewPaths(c.Seed)
	w.turns.never = true
	shared := c.Shared
	if shared == nil {
		shared = &Shared{links: make([]linkLimits, len(c.Links))}
	} else {
		w.detector.Share(shared.fabric)
	}
	for i := range c.Links {
		w.links = append(w.links, linkState{link: &c.Links[i], number: i, counters: &w.counters.Links[i], limits: &shared.links[i]})
		w.turns.never = w.turns.never && c.Links[i].Host == nil
	}
	w.makeLoop(c.LoopClock)
	w.setReadings(c.Rules)
	w.turns.setInterval(c.Rules.Verify)
	w.reporter = reporting.New(&reporting.Config{
		Outlets: c.Outlets, Pool: c.ReportPool, NodeID: c.NodeID, HwID: c.HwID, Instance: c.Instance, QueueID: c.QueueID,
		WallClock: c.WallClock, Counters: &w.counters.Counters,
	}, &c.Rules.Report, c.Rules.Collectors)
	return w
}
