// Counters: what several stages count of a link's packets, by direction, type of INT and flag.

package burst

import (
	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
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

// DirectionCounters add up: Received == Forwarded + sum(Dropped).
type DirectionCounters struct {
	Received, Forwarded uint64
	Dropped             [NumDropReasons]uint64
}

// Counters are what one worker counts of the packets of one link or tap on their way through
// the stages.
type Counters struct {
	Direction [NumDirections]DirectionCounters
	INT       [inthdr.NumTypes]uint64   // sound INT packets from the network side, by type
	Flagged   [NumFlags]uint64          // INT packets from the network side with a flag that says that their stack lacks hops
	Malformed [inthdr.NumReasons]uint64 // unsound, or sound with contents that contradict themselves
}

// CountFlags counts the flags of a packet.
func (c *Counters) CountFlags(i *inthdr.Info) {
	if i.HopExceeded {
		c.Flagged[HopExceeded]++
	}
	if i.MTUExceeded {
		c.Flagged[MTUExceeded]++
	}
}

// Add adds o to c.
func (c *Counters) Add(o *Counters) {
	for d := range c.Direction {
		c.Direction[d].add(&o.Direction[d])
	}
	for i := range c.INT {
		c.INT[i] += o.INT[i]
	}
	for i := range c.Flagged {
		c.Flagged[i] += o.Flagged[i]
	}
	for i := range c.Malformed {
		c.Malformed[i] += o.Malformed[i]
	}
}

func (c *DirectionCounters) add(o *DirectionCounters) {
	c.Received += o.Received
	c.Forwarded += o.Forwarded
	for i := range c.Dropped {
		c.Dropped[i] += o.Dropped[i]
	}
}
