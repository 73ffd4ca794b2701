// Counters of reports and report packets by collector and event.

package reporting

import "intsink/engine/event"

// Counters is what one Reporter counts.
type Counters struct {
	Collectors []CollectorCounters
	Reported   [event.NumEvents]uint64 // events of the reports that were built
	Shed       [event.NumEvents]uint64 // events of reports that no collector got, for their budgets
}

// CollectorCounters are one worker's counters of one collector.
// Packets were sealed; those among them that were dropped are in Dropped.
type CollectorCounters struct {
	Name             string
	Reports, Packets uint64
	Dropped          [NumDropReasons]uint64
	Shed             [event.NumEvents]uint64 // events of reports that its budget did not allow
}

// Add adds o to c, to sum workers.
func (c *CollectorCounters) Add(o *CollectorCounters) {
	c.Reports += o.Reports
	c.Packets += o.Packets
	for i := range c.Dropped {
		c.Dropped[i] += o.Dropped[i]
	}
	for i := range c.Shed {
		c.Shed[i] += o.Shed[i]
	}
}
