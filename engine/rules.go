// Rules: everything that a reload can change, immutable.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/reporting"
	"intsink/engine/watch"
)

// Rules is everything of the configuration that can change while the engine
// runs. It is immutable: a reload hands the workers a new one.
type Rules struct {
	INT           inthdr.Config
	DropMalformed bool
	DropInterval  int64                 // nanoseconds between two drop reports of packets that belong to no flow
	Watches       []Watch               // first match wins
	Devices       []watch.DeviceField   // what watches take for the id of a device
	NodeModels    []event.NodeModel     // what the values of nodes mean
	Collectors    []reporting.Collector // traffic to them is never watched
	Verify        int                   // one INT packet in so many has its checksums verified; 0: none
	Report        reporting.Rules
	IdleTimeout   int64 // nanoseconds without a packet that end a flow; 0: as the table was made
	Suspended     bool  // Watches are left out for a while, and packets of their flows not seen
}

// Suspend is r without its watches: INT goes, and nothing else happens. Flows that rules
// with watches find later have missed packets: nothing is made of the gap in their sequence.
func (r *Rules) Suspend() *Rules {
	s := *r
	s.Watches, s.Suspended = nil, true
	return &s
}
