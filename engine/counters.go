package engine

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// Direction of a packet through a link.
type Direction uint8

const (
	ToHost Direction = iota
	ToNetwork
	NumDirections
)

// String is the value of the direction label.
func (d Direction) String() string {
	if d == ToHost {
		return "to_host"
	}
	return "to_network"
}

// DirectionCounters add up: Received == Forwarded + sum(Dropped).
type DirectionCounters struct {
	Received, Forwarded uint64
	Dropped             [NumDropReasons]uint64
}

// LinkCounters are one worker's counters of one link or tap.
type LinkCounters struct {
	Direction  [NumDirections]DirectionCounters
	INT        [inthdr.NumTypes]uint64                      // sound INT packets from the network side, by type
	Malformed  [inthdr.NumReasons]uint64                    // unsound, or sound with contents that contradict themselves
	Checksums  [NumChecksumStates][NumChecksumStates]uint64 // of sampled INT packets: as they came, as they left
	Mitigation MitigationCounters
	Leaked     uint64 // INT packets seen from host to network
}

// CollectorCounters are one worker's counters of one collector.
// Packets were sealed; those among them that were dropped are in Dropped.
type CollectorCounters struct {
	Name             string
	Reports, Packets uint64
	Dropped          [NumReportDropReasons]uint64
	Shed             [event.NumEvents]uint64 // events of reports that its budget did not allow
}

// Counters is everything one worker counts. Only the worker writes its own
// copy; everybody else reads snapshots (Worker.Snapshot).
type Counters struct {
	Links      []LinkCounters
	Collectors []CollectorCounters
	Reported   [event.NumEvents]uint64 // events of the reports that were built
	Shed       [event.NumEvents]uint64 // events of reports that no collector got, for their budgets
	Stretch    uint32                  // of the time between refreshes, in percent
	Detector   event.Counters
	Flows      uint64 // in the table now
	Evictions  uint64
	Refused    uint64 // packets whose flow found no room in a flood of evictions
	Pace       Pace
}

// copyFrom makes c equal to s, without allocating but where collectors came or went: both
// have the same links.
func (c *Counters) copyFrom(s *Counters) {
	links, collectors := c.Links, c.Collectors
	copy(links, s.Links)
	if len(collectors) != len(s.Collectors) {
		collectors = make([]CollectorCounters, len(s.Collectors))
	}
	copy(collectors, s.Collectors)
	*c = *s
	c.Links, c.Collectors = links, collectors
}

func newCounters(links, collectors int) Counters {
	return Counters{
		Links:      make([]LinkCounters, links),
		Collectors: make([]CollectorCounters, collectors),
	}
}

// Add adds o to c, to sum workers.
func (c *LinkCounters) Add(o *LinkCounters) {
	for d := range c.Direction {
		c.Direction[d].add(&o.Direction[d])
	}
	for i := range c.INT {
		c.INT[i] += o.INT[i]
	}
	for i := range c.Malformed {
		c.Malformed[i] += o.Malformed[i]
	}
	for before := range c.Checksums {
		for after := range c.Checksums[before] {
			c.Checksums[before][after] += o.Checksums[before][after]
		}
	}
	c.Mitigation.sum(&o.Mitigation)
	c.Leaked += o.Leaked
}

func (c *DirectionCounters) add(o *DirectionCounters) {
	c.Received += o.Received
	c.Forwarded += o.Forwarded
	for i := range c.Dropped {
		c.Dropped[i] += o.Dropped[i]
	}
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
