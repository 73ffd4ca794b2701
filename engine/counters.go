// The counters of one worker, by link: each part is declared beside the code that counts.

package engine

import (
	"slices"

	"intsink/engine/aside/checksum"
	"intsink/engine/aside/mitigate"
	"intsink/engine/aside/passall"
	"intsink/engine/aside/recorder"
	"intsink/engine/aside/verify"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/metric"
	"intsink/engine/reporting"
	"intsink/engine/stage/parse"
	"intsink/engine/stage/tonetwork"
)

// LinkCounters are one worker's counters of one link or tap.
type LinkCounters struct {
	burst.Counters
	Parse      parse.Counters
	ToNetwork  tonetwork.Counters
	PassAll    passall.Counters
	Checksum   checksum.Counters
	Verify     verify.Counters
	Mitigation mitigate.LinkCounters
}

// Add adds o to c, to sum workers.
func (c *LinkCounters) Add(o *LinkCounters) { metric.Add(c, o) }

// LinkMetrics are the metrics of a link, in their order.
var LinkMetrics = slices.Concat(
	metric.Within(burst.Metrics, func(c *LinkCounters) *burst.Counters { return &c.Counters }),
	metric.Within(checksum.Metrics, func(c *LinkCounters) *checksum.Counters { return &c.Checksum }),
	metric.Within(parse.Metrics, func(c *LinkCounters) *parse.Counters { return &c.Parse }),
	metric.Within(verify.Metrics, func(c *LinkCounters) *verify.Counters { return &c.Verify }),
	metric.Within(tonetwork.Metrics, func(c *LinkCounters) *tonetwork.Counters { return &c.ToNetwork }),
	metric.Within(passall.Metrics, func(c *LinkCounters) *passall.Counters { return &c.PassAll }),
	metric.Within(mitigate.Metrics, func(c *LinkCounters) *mitigate.LinkCounters { return &c.Mitigation }),
)

// SumMetrics are those of all workers together, in their order.
var SumMetrics = slices.Concat(
	metric.Within(event.Entered, func(c *Counters) *event.Counters { return &c.Detector }),
	metric.Within(reporting.Metrics, func(c *Counters) *reporting.Counters { return &c.Counters }),
	metric.Within(recorder.Metrics, func(c *Counters) *recorder.Counters { return &c.Recorder }),
	metric.Within(event.Metrics, func(c *Counters) *event.Counters { return &c.Detector }),
)

// Counters is everything one worker counts. Only the worker writes its own
// copy; everybody else reads snapshots (Worker.Snapshot).
type Counters struct {
	Links []LinkCounters
	reporting.Counters
	Stretch   uint32 // of the time between refreshes, in percent
	Detector  event.Counters
	Recorder  recorder.Counters
	Flows     uint64 // in the table now
	Evictions uint64
	Refused   uint64 // packets whose flow found no room in a flood of evictions
	Pace      Pace
}

// copyFrom makes c equal to s, without allocating but where collectors came or went: both
// have the same links.
func (c *Counters) copyFrom(s *Counters) {
	links, collectors := c.Links, c.Collectors
	copy(links, s.Links)
	if len(collectors) != len(s.Collectors) {
		collectors = make([]reporting.CollectorCounters, len(s.Collectors))
	}
	copy(collectors, s.Collectors)
	*c = *s
	c.Links, c.Collectors = links, collectors
}

func newCounters(links, collectors int) Counters {
	return Counters{
		Links:    make([]LinkCounters, links),
		Counters: reporting.Counters{Collectors: make([]reporting.CollectorCounters, collectors)},
	}
}
