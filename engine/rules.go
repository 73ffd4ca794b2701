package engine

import (
	"net/netip"
	"time"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/engine/watch"
)

// Rules is everything of the configuration that can change while the engine
// runs. It is immutable: a reload hands the workers a new one.
type Rules struct {
	INT           inthdr.Config
	DropMalformed bool
	DropInterval  int64               // nanoseconds between two drop reports of packets that belong to no flow
	Watches       []Watch             // first match wins
	Devices       []watch.DeviceField // what watches take for the id of a device
	NodeModels    []event.NodeModel   // what the values of nodes mean
	Collectors    []netip.AddrPort    // traffic to them is never watched
	Report        ReportRules
}

// ReportRules say what an individual report carries and how reports share a
// packet.
type ReportRules struct {
	Format   report.Format
	Domain   uint16 // Domain Specific ID of all reports, which then are of RepType 1; 0: the packet's
	MdBits   uint16 // RepMdBits of the sink's own metadata; 0: RepType 0, inner only
	Fragment int    // bytes of the packet, INT included; 0: InType 0
	Explain  bool   // an Explanation goes with the fragment, as TLVs; with Format20 only
	Ethernet bool   // the fragment starts with the Ethernet header (InType 3), else with IP (4, 5)

	MaxPayload []int // per collector: UDP payload of one report packet in bytes
	MaxReports int   // 0: as many as fit; a format without coalescing has one
	MaxDelay   time.Duration
	Budgets    []Budget // per collector; nil: none has one
}

func (r *ReportRules) budget(i int) Budget {
	if r.Budgets == nil {
		return Budget{}
	}
	return r.Budgets[i]
}
