// Subject: what one report is about: events, collectors, flow, packet.

package reporting

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// Subject is what one report is about.
type Subject struct {
	Set        event.Set
	Priority   event.Priority
	Collectors uint64      // bit i: collector i hears of it
	Flow       *flows.Flow // nil: the packet belongs to none
	Entropy    uint16      // spreads report packets over paths: the same for all of a flow

	Info       *inthdr.Info // what the packet's INT says; nil: nothing is known, or there is no packet
	Source     []byte       // INT-MX: what its source inserted for SourceBits of its domain
	SourceBits uint16
	InType     report.InType
	Inner      []byte // as much of the packet as the report carries

	Trigger event.Trigger // of Set & event.Triggered
	Drops   uint32        // packets since the last report of a drop
	Reason  uint8         // of a drop: one of report.DropReasons
}
