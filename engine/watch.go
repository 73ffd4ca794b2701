package engine

import (
	"encoding/binary"
	"net/netip"

	"intsink/flows"
)

// Watch selects flows by their original key, and packets by what is not in it.
// Empty lists match everything.
type Watch struct {
	Name                        string
	Source, Destination         []netip.Prefix
	Protocol                    []uint8
	SourcePort, DestinationPort []PortRange
	Layer                       Layer
	VLAN                        []PortRange // of ids
	DSCP                        []uint8
	VNI                         []VNIRange
	Device                      []uint64
	Collectors                  uint64 // bit i: reports go to collector i
}

// Layer says which headers of a packet a watch is about.
type Layer uint8

const (
	OwnLayer   Layer = iota // those that the flow's key is made of
	OuterLayer              // the same, of flows that are not inside of a tunnel
	InnerLayer              // those inside of a tunnel: of the flow, or of what the flow carries
)

// PortRange is an inclusive range of TCP, UDP or SCTP ports, or of VLAN ids.
type PortRange struct{ First, Last uint16 }

// VNIRange is an inclusive range of VXLAN or Geneve network identifiers.
type VNIRange struct{ First, Last uint32 }

// DeviceField says which domain specific metadata is the id of a device. The
// layout of the domain stands in Rules.INT.
type DeviceField struct {
	Domain uint16
	Bit    uint8 // 0: the most significant of DS Instruction
}

// match returns the index of the first watch that selects a packet of flow k with
// these facts, or NoWatch. f may be nil where no watch asks for facts, and where there
// is no packet; then a flow whose watch depends on one has none.
func (ws *watches) match(k *flows.Key, f *facts) uint8 {
	for i := range ws.collectors {
		if ws.collectors[i].is(k) {
			return NoWatch
		}
	}
	set := ws.own
	ws.fiveTuple(&set, k)
	if f == nil {
		set.add(&ws.inner)
		if i := set.first(); i != NoWatch && !ws.asking.has(i) {
			return i
		}
		return NoWatch
	}
	if f.inside {
		set.remove(&ws.outer)
	}
	if f.inner != nil {
		inner := ws.inner
		ws.fiveTuple(&inner, f.inner)
		set.add(&inner)
	}
	ws.packet(&set, f)
	return set.first()
}

// fiveTuple leaves those of set that select k.
func (ws *watches) fiveTuple(set *watchSet, k *flows.Key) {
	set.keep(ws.protocol.at(point{0, uint64(k.Proto())}))
	set.keep(ws.destinationPort.at(point{0, uint64(k.DstPort())}))
	set.keep(ws.sourcePort.at(point{0, uint64(k.SrcPort())}))
	v := k.Version() >> 1 & 1 // 4: 0, 6: 1
	set.keep(ws.destination[v].at(k.Dst()))
	set.keep(ws.source[v].at(k.Src()))
}

// packet leaves those of set that select a packet with these facts.
func (ws *watches) packet(set *watchSet, f *facts) {
	set.keep(ws.vlan.at(point{0, uint64(f.vlan)}))
	set.keep(ws.dscp.at(point{0, uint64(f.dscp)}))
	vni := &ws.anyVNI
	if f.hasVNI {
		vni = ws.vni.at(point{0, uint64(f.vni)})
	}
	set.keep(vni)
	if ws.asks&askDevice == 0 {
		return
	}
	devices := ws.anyDevice
	for s := f.nodes; len(s) >= 4; s = s[min(f.hopLen, len(s)):] {
		devices.add(ws.device.at(point{0, uint64(binary.BigEndian.Uint32(s) & f.nodeMask)}))
	}
	if f.hasDevice {
		devices.add(ws.device.at(point{0, f.device}))
	}
	set.keep(&devices)
}
