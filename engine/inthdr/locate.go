package inthdr

import (
	"encoding/binary"

	"intsink/engine/packet"
)

// Result of Locate.
type Result uint8

const (
	NotINT   Result = iota
	Sound           // Info is valid; Info.Reason tells whether the contents are odd
	Unsound         // marked as INT, not to be taken as INT; only Info.Reason is valid
	NeedMore        // the INT headers go beyond the first segment
)

// Marking is how a packet says that it carries INT.
type Marking uint8

const (
	ByPort Marking = iota
	ByDSCP
	ByProbeMarker
)

// Info is where INT stands in one packet and what its headers say.
type Info struct {
	Marking Marking
	Type    Type
	NPT     uint8
	Reason  Reason
	Plain   bool // found by Recall: NPT 1 right behind Ethernet without tags, IPv4 without options and UDP

	Start, End uint16 // bytes [Start,End) of the frame go away
	Shim       uint16
	Orig       uint16 // original UDP destination port (NPT 1) or IP protocol (NPT 2)
	DSCP       uint8  // what the packet leaves with: restored, cleared of the mark, or as it is

	Discard, HopExceeded, MTUExceeded bool // D, E, M

	HopML, RemainingHops            uint8
	Bitmap, DomainID, DSInstruction uint16

	Stack, StackLen uint16 // per-hop metadata, newest hop first; the source-only part excluded
	SourceLen       uint16 // source-only metadata behind the stack
	HopLen, Hops    uint16 // bytes per hop, and how many hops
}

const (
	shimLen        = 4
	mdLen          = 12
	probeMarkerLen = 8
	udpLen         = 8
	tcpMinLen      = 20
)

// Locate tells whether the packet that l describes carries INT, and where. b is
// the first segment of a frame of pktLen bytes. l must come from a packet.Parse
// that returned OK for the same bytes.
func (p *Locator) Locate(b []byte, pktLen int, l *packet.Layers, i *Info) Result {
	if l.Payload == 0 || l.Fragment != packet.NotFragment && !p.fragments {
		return NotINT
	}
	if l.Proto == packet.ProtoUDP && p.byPort && l.DstPort == p.port {
		return p.locateByPort(b, l, i)
	}
	if p.byDSCP && l.DSCP&p.dscpMask == p.dscpValue {
		return p.locateShim(b, l, i, ByDSCP, p.start(l))
	}
	if p.byProbe {
		return p.locateProbe(b, l, i)
	}
	return NotINT
}

// start is where INT stands behind an L4 header: TCP options may come first.
func (p *Locator) start(l *packet.Layers) int {
	if p.beforeOptions && l.Proto == packet.ProtoTCP {
		return int(l.L4) + tcpMinLen
	}
	return int(l.Payload)
}

func (p *Locator) locateProbe(b []byte, l *packet.Layers, i *Info) Result {
	if !p.probePort(l.DstPort) {
		return NotINT
	}
	at := p.start(l)
	if p.limit(l)-at < probeMarkerLen {
		return NotINT
	}
	if len(b) < at+probeMarkerLen {
		return NeedMore
	}
	if binary.BigEndian.Uint64(b[at:]) != p.probe {
		return NotINT
	}
	r := p.locateShim(b, l, i, ByProbeMarker, at+probeMarkerLen)
	i.Start = uint16(at)
	return r
}

// limit is the end of what INT may occupy.
func (p *Locator) limit(l *packet.Layers) int { return int(l.End) }

// locateShim reads the shim at offset at and checks that its extent lies
// within the packet.
func (p *Locator) locateShim(b []byte, l *packet.Layers, i *Info, by Marking, at int) Result {
	end := int(l.End)
	*i = Info{Marking: by, Start: uint16(at), Shim: uint16(at), DSCP: l.DSCP}
	if at+shimLen > end {
		return unsound(i, ReasonTruncated)
	}
	if len(b) < at+shimLen {
		return NeedMore
	}
	if l.Proto == packet.ProtoUDP && l.Fragment == packet.NotFragment {
		udp := int(binary.BigEndian.Uint16(b[int(l.L4)+4:]))
		if int(l.L4)+udp != end {
			return unsound(i, ReasonUDPLength)
		}
	}
	shim := binary.BigEndian.Uint32(b[at:])
	i.Type = Type(shim >> 28)
	i.NPT = uint8(shim >> 26 & 3)
	words := int(shim >> 16 & 0xff)
	if r := i.checkShim(by, words); r != ReasonNone {
		return unsound(i, r)
	}
	to := at + shimLen + words*4
	if to > end {
		return unsound(i, ReasonLength)
	}
	if len(b) < to {
		return NeedMore
	}
	i.End = uint16(to)
	switch i.NPT {
	case 0:
		if by == ByDSCP {
			if i.DSCP = uint8(shim>>2) & 0x3f; i.DSCP == 0 { // not carried: take the mark off
				i.DSCP = l.DSCP &^ p.dscpMask
			}
		}
	case 1:
		i.Orig = uint16(shim)
	case 2:
		i.Orig = uint16(shim & 0xff)
		i.Start = l.L4
	}
	return p.contents(b[at+shimLen:to], i)
}

// checkShim checks the shim's fields against each other.
func (i *Info) checkShim(by Marking, words int) Reason {
	switch {
	case !i.Type.Known():
		return ReasonType
	case by == ByPort && (i.NPT == 0 || i.NPT == 3), by != ByPort && i.NPT != 0:
		return ReasonNPT
	case i.Type != Destination && words < mdLen/4:
		return ReasonLength
	}
	return ReasonNone
}

func unsound(i *Info, r Reason) Result {
	i.Reason = r
	return Unsound
}
