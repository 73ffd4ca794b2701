// Declares the counters of one worker by link, direction and type of INT, and adds them up.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/quote"
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

// Flag of an INT header that says that not all nodes could add their metadata.
type Flag uint8

const (
	HopExceeded Flag = iota // E
	MTUExceeded             // M
	NumFlags
)

// String is the value of the flag label: the event that it makes.
func (f Flag) String() string {
	return [NumFlags]event.Event{HopExceeded: event.HopLimit, MTUExceeded: event.MTUExceeded}[f].String()
}

// countFlags counts the flags of a packet.
func (c *LinkCounters) countFlags(i *inthdr.Info) {
	if i.HopExceeded {
		c.Flagged[HopExceeded]++
	}
	if i.MTUExceeded {
		c.Flagged[MTUExceeded]++
	}
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
	Flagged    [NumFlags]uint64                             // INT packets from the network side with a flag that says that their stack lacks hops
	Malformed  [inthdr.NumReasons]uint64                    // unsound, or sound with contents that contradict themselves
	Checksums  [NumChecksumStates][NumChecksumStates]uint64 // of sampled INT packets: as they came, as they left
	Verified   [NumVerifications]uint64                     // INT packets whose checksums were verified
	Mitigation MitigationCounters
	Quotes     [quote.NumResults]uint64 // ICMP errors from the network that quote packets with INT
	Leaked     uint64                   // INT packets seen from host to network
	Marked     [NumMarkActions]uint64   // packets without INT from host to network that bore its mark
	Passed     uint64                   // packets from the network that passed as they came: see PassAll
}

// Counters is everything one worker counts. Only the worker writes its own
// copy; everybody else reads snapshots (Worker.Snapshot).
type Counters struct {
	Links []LinkCounters
	reporting.Counters
	Stretch   uint32 // of the time between refreshes, in percent
	Detector  event.Counters
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
	for i := range c.Verified {
		c.Verified[i] += o.Verified[i]
	}
	for i := range c.Quotes {
		c.Quotes[i] += o.Quotes[i]
	}
	for i := range c.Flagged {
		c.Flagged[i] += o.Flagged[i]
	}
	for i := range c.Marked {
		c.Marked[i] += o.Marked[i]
	}
	c.Mitigation.sum(&o.Mitigation)
	c.Leaked += o.Leaked
	c.Passed += o.Passed
}

func (c *DirectionCounters) add(o *DirectionCounters) {
	c.Received += o.Received
	c.Forwarded += o.Forwarded
	for i := range c.Dropped {
		c.Dropped[i] += o.Dropped[i]
	}
}
