// Declares Watch, and Match: what it selects, with its ranges and layers.

package watch

import (
	"net/netip"
	"slices"

	"intsink/engine/event"
	"intsink/internal/ranges"
)

// None is the index of no watch.
const None = 0xff

// Max bounds the watches of one configuration: a flow keeps the index of its watch in one
// byte.
const Max = None

// Watch selects traffic, the events that are looked for in it, and the collectors that get
// the reports.
type Watch struct {
	Name string
	Match
	Policy     event.Policy
	Collectors uint64 // bit i: reports go to collector i
}

// Match is what a watch selects: flows by their original key, and packets by what is not
// in it. Empty lists match everything.
type Match struct {
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Layer                       Layer
	VLAN                        []PortRange // of ids
	DSCP                        []uint8
	VNI                         []VNIRange
	Device                      []uint64
	Ingress                     []uint16 // what the packet came by: IngressOf
}

// IngressOf is a port that packets come by: that of a link, by its number, on the side of the network or of the hosts.
func IngressOf(link int, host bool) uint16 {
	n := uint16(2 * link)
	if host {
		n++
	}
	return n
}

// Takes tells whether m selects packets that came by a port.
func (m *Match) Takes(ingress uint16) bool {
	return len(m.Ingress) == 0 || slices.Contains(m.Ingress, ingress)
}

// isAll tells whether m selects everything that comes by one of its ports.
func (m *Match) isAll() bool {
	return m.Layer == OwnLayer && len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort)+
		len(m.VLAN)+len(m.DSCP)+len(m.VNI)+len(m.Device) == 0
}

// Layer says which headers of a packet a watch is about.
type Layer uint8

const (
	OwnLayer   Layer = iota // those that the flow's key is made of
	OuterLayer              // the same, of flows that are not inside of a tunnel
	InnerLayer              // those inside of a tunnel: of the flow, or of what the flow carries
)

// PortRange is an inclusive range of TCP, UDP or SCTP ports, or of VLAN ids.
type PortRange = ranges.Range[uint16]

// VNIRange is an inclusive range of VXLAN or Geneve network identifiers.
type VNIRange = ranges.Range[uint32]

// DeviceField says which domain specific metadata is the id of a device. The
// layout of the domain stands in Config.INT.
type DeviceField struct {
	Domain uint16
	Bit    uint8 // 0: the most significant of DS Instruction
}
