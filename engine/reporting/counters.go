// Counters of reports and report packets by collector and event; the closed list of reasons
// for which a report never reached the wire.

package reporting

import (
	"intsink/engine/event"
	"intsink/engine/metric"
)

// Counters are the counters of one Reporter.
type Counters struct {
	Collectors []CollectorCounters
	Reported   [event.NumEvents]uint64 // events of the reports that were built
	News       [event.NumNews]uint64   // reports that were built, by what they tell
	Shed       [event.NumEvents]uint64 // events of reports that no collector was sent, because of budgets
}

// CollectorCounters are one worker's counters of one collector.
// Packets were sealed; those among them that were dropped are in Dropped.
type CollectorCounters struct {
	Name             string
	Reports, Packets uint64
	Cut              uint64 // reports whose fragment ends inside of INT: their reader has not all hops
	Dropped          [NumDropReasons]uint64
	Shed             [event.NumEvents]uint64 // events of reports that its budget did not allow
}

// Metrics are those of all collectors together.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_reported_events_total", Help: "events of the reports that were built", Samples: func(c *Counters, to metric.Samples) {
		for e, n := range c.Reported {
			to.Add(n, "event", event.Event(e))
		}
	}},
	{Name: "intsink_reports_news_total", Help: "reports that were built, by what they tell: change, flow (one begins or ends) or none (refreshes and samples)", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.News {
			to.Add(n, "news", event.News(i))
		}
	}},
	{Name: "intsink_shed_events_total", Help: "events of reports that no collector was sent because of its budget", Samples: func(c *Counters, to metric.Samples) {
		for e, n := range c.Shed {
			to.Add(n, "event", event.Event(e))
		}
	}},
}

// CollectorMetrics are those of a collector. Its exporter has drops of its own.
var CollectorMetrics = []metric.Of[CollectorCounters]{
	{Name: "intsink_reports_total", Help: "individual reports built", Samples: func(c *CollectorCounters, to metric.Samples) {
		to.Add(c.Reports)
	}},
	{Name: "intsink_reports_cut_total", Help: "individual reports whose fragment ends inside of INT, so that hops are missing: see report.fragment", Samples: func(c *CollectorCounters, to metric.Samples) {
		to.Add(c.Cut)
	}},
	{Name: "intsink_report_packets_total", Help: "report packets sealed, each with a sequence number", Samples: func(c *CollectorCounters, to metric.Samples) {
		to.Add(c.Packets)
	}},
	{Name: "intsink_shed_reports_total", Help: "events of reports that the collector was not sent because of its budget", Samples: func(c *CollectorCounters, to metric.Samples) {
		for e, n := range c.Shed {
			to.Add(n, "event", event.Event(e))
		}
	}},
	{Name: "intsink_report_drops_total", Help: "reports or report packets lost", Samples: func(c *CollectorCounters, to metric.Samples) {
		for i, n := range c.Dropped {
			to.Add(n, "reason", DropReason(i))
		}
	}},
}

// DropReason says why a report or report packet never reached the wire.
type DropReason uint8

const (
	DropNoMbuf DropReason = iota
	DropRingFull
	DropTooBig
	NumDropReasons
)

var dropReasons = [NumDropReasons]struct{ label, doc string }{
	DropNoMbuf:   {"no_mbuf", "the report pool was empty; one individual report is lost"},
	DropRingFull: {"ring_full", "the exporter did not keep up; one report packet is lost, its sequence number stays missing"},
	DropTooBig:   {"too_big", "the report does not fit max_bytes; one individual report is lost"},
}

// String returns the value of the reason label.
func (r DropReason) String() string { return dropReasons[r].label }

// Doc is one line for the documentation.
func (r DropReason) Doc() string { return dropReasons[r].doc }
