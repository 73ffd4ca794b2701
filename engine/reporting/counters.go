// Counters of reports and report packets by collector and event; the closed list of reasons
// for which a report never reached the wire.

package reporting

import (
	"intsink/engine/event"
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

// Add adds o to c, to sum workers.
func (c *CollectorCounters) Add(o *CollectorCounters) {
	c.Reports += o.Reports
	c.Packets += o.Packets
	c.Cut += o.Cut
	for i := range c.Dropped {
		c.Dropped[i] += o.Dropped[i]
	}
	for i := range c.Shed {
		c.Shed[i] += o.Shed[i]
	}
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
