// Rules of reports (format, metadata, fragment, delay), and Collector.

package reporting

import (
	"net/netip"
	"time"

	"intsink/engine/report"
)

// Rules say what an individual report carries and how reports share a
// packet.
type Rules struct {
	Format   report.Format
	Domain   uint16 // Domain Specific ID of all reports, which then are of RepType 1; 0: the packet's
	MdBits   uint16 // RepMdBits of the sink's own metadata; 0: RepType 0, inner only
	Fragment int    // bytes of the packet, INT included; 0: InType 0
	Explain  bool   // an Explanation goes with the fragment, as TLVs; with Format20 only
	Ethernet bool   // the fragment starts with the Ethernet header (InType 3), else with IP (4, 5)

	MaxReports int // 0: as many as fit; a format without coalescing has one
	MaxDelay   time.Duration
}

// Collector receives reports. Reporters know it by its index among all.
type Collector struct {
	Name       string
	Address    netip.AddrPort
	MaxPayload int    // UDP payload of one report packet in bytes
	Budget     Budget // what it may be sent; zero: no limit
}
