// Counters: what several stages count of a link's packets, by direction, type of INT and flag.

package burst

import (
	"fmt"

	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/metric"
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
	Marked    uint64                    // of those, marked by a queue (ECN: CE) in their outermost IP header
	Flagged   [NumFlags]uint64          // INT packets from the network side with a flag that says that their stack lacks hops
	Malformed [inthdr.NumReasons]uint64 // unsound, or sound with contents that contradict themselves

	Decapsulated uint64 // to the host, out of a tunnel that ends here; counted for each tunnel

	Layoutless layoutless // Malformed by ReasonLayout
}

// CountTypes counts n packets with INT by their types, all but these of INT-MD, and those that queues have marked.
func (c *Counters) CountTypes(n uint64, t fast.Types) {
	c.INT[inthdr.MX] += t.MX()
	c.INT[inthdr.IFA] += t.IFA()
	c.Marked += t.Marked()
	c.INT[inthdr.MD] += n - t.MX() - t.IFA()
}

// CountReason counts what is wrong with a packet.
func (c *Counters) CountReason(i *inthdr.Info) {
	if c.Malformed[i.Reason]++; i.Reason == inthdr.ReasonLayout {
		c.Layoutless.count(i)
	}
}

// foreignTypes says which types are those of telemetry that is not INT.
func foreignTypes() (text string) {
	for _, f := range inthdr.Foreigns() {
		text += fmt.Sprintf("; %s: with %s", f.Type, f.Title)
	}
	return text
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

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_received_packets_total", Help: "packets from the port; direction is to_host or to_network", Samples: func(c *Counters, to metric.Samples) {
		for d := range NumDirections {
			to.Add(c.Direction[d].Received, "direction", d)
		}
	}},
	{Name: "intsink_forwarded_packets_total", Help: "packets that the other port took", Samples: func(c *Counters, to metric.Samples) {
		for d := range NumDirections {
			to.Add(c.Direction[d].Forwarded, "direction", d)
		}
	}},
	{Name: "intsink_dropped_packets_total", Help: "packets that were freed instead", Samples: func(c *Counters, to metric.Samples) {
		for d := range NumDirections {
			for r, n := range c.Direction[d].Dropped {
				to.Add(n, "direction", d, "reason", DropReason(r))
			}
		}
	}},
	{Name: "intsink_int_packets_total", Help: "INT packets by type: md, destination, mx" + foreignTypes(), Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.INT {
			if inthdr.Type(i).Known() {
				to.Add(n, "type", inthdr.Type(i))
			}
		}
	}},
	{Name: "intsink_int_ecn_marked_packets_total", Help: "INT packets that came with the mark of a queue (ECN: CE in the outermost IP header)", Samples: func(c *Counters, to metric.Samples) {
		to.Add(c.Marked)
	}},
	{Name: "intsink_int_flagged_packets_total", Help: "INT packets whose stack lacks hops, by flag: hop_limit (E, the hop limit was exceeded) or mtu_exceeded (M)", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Flagged {
			to.Add(n, "flag", Flag(i))
		}
	}},
	tunnelsEnded,
	{Name: "intsink_malformed_packets_total", Help: "packets marked as INT with something wrong, and those too deep to tell", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Malformed {
			if i > 0 {
				to.Add(n, "reason", inthdr.Reason(i))
			}
		}
	}},
	withoutLayout,
}
