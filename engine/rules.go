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
	Collectors    []Collector         // traffic to them is never watched
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

	MaxReports int // 0: as many as fit; a format without coalescing has one
	MaxDelay   time.Duration
}

// Collector receives reports. Watch.Collectors names it by its index in Rules.
type Collector struct {
	Name       string
	Address    netip.AddrPort
	MaxPayload int    // UDP payload of one report packet in bytes
	Budget     Budget // what it may be sent; zero: no limit
}
