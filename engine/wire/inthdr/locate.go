// Locate: INT over TCP or UDP by port, DSCP or probe marker; checks of the shim, of fragments,
// of the packet that NPT 2 leaves.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

const (
	ShimLen        = 4
	MDLen          = 12
	oldLen         = 8 // header of INT 1.0 and of June 2016
	probeMarkerLen = 8
)

// Locate reports whether the packet that l describes carries INT in these layers,
// and where. b is the first segment of a frame. l must come from a packet.Parse
// that returned OK for the same bytes.
func (p *Locator) Locate(b []byte, l *packet.Layers, i *Info) Result {
	if l.Fragment != packet.NotFragment {
		return p.locateFragment(b, l, i)
	}
	return p.locate(b, l, i)
}

// locateFragment finds INT in first fragments if the configuration strips them; otherwise they
// pass unchanged and are counted by their reason.
func (p *Locator) locateFragment(b []byte, l *packet.Layers, i *Info) Result {
	if l.Fragment == packet.LaterFragment {
		return NotINT
	}
	r := p.locate(b, l, i)
	if r == Sound && (!p.fragments || i.Unwraps() && !p.readOnly) { // later fragments would keep the header that INT's tunnel has
		return unsound(i, ReasonFragment)
	}
	return r
}

func (p *Locator) locate(b []byte, l *packet.Layers, i *Info) Result {
	if p.takesForeign {
		if r := p.locateInIP(b, l, i); r != NotINT {
			return r
		}
	}
	if l.Payload == 0 {
		if l.Proto == packet.ProtoGRE && p.byGRE {
			return p.locateGRE(b, l, i)
		}
		return p.locateByProtocol(b, l, i)
	}
	if l.Proto == packet.ProtoUDP {
		switch {
		case p.byPort && l.DstPort == p.port:
			return p.locateByPort(b, l, i)
		case p.byGPE && l.DstPort == p.gpe.Port:
			if r := p.locateGPE(b, l, i); r != NotINT {
				return r
			}
		case p.byGeneve && l.DstPort == p.geneve.Port:
			if r := p.locateGeneve(b, l, i); r != NotINT {
				return r
			}
		}
	}
	if p.byDSCP && p.dscps.marks(l.DSCP) {
		return p.locateShim(b, l, i, ByDSCP, p.start(l))
	}
	if p.byProbe {
		if r := p.locateProbe(b, l, i); r != NotINT {
			return r
		}
	}
	if p.takesForeign {
		return p.locateBehindL4(b, l, i)
	}
	return NotINT
}

// start returns where INT stands behind an L4 header: TCP options may come first.
func (p *Locator) start(l *packet.Layers) int {
	if p.beforeOptions && l.Proto == packet.ProtoTCP {
		return int(l.L4) + packet.TCPLen
	}
	return int(l.Payload)
}

func (p *Locator) locateProbe(b []byte, l *packet.Layers, i *Info) Result {
	if !p.probePort(l.DstPort) {
		return NotINT
	}
	at := p.start(l)
	if int(l.End)-at < probeMarkerLen {
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
	i.Removed = i.End - i.Start
	return r
}

// locateShim reads the shim for TCP/UDP at offset at and checks that its extent
// lies within the packet.
func (p *Locator) locateShim(b []byte, l *packet.Layers, i *Info, by Marking, at int) Result {
	end := int(l.End)
	*i = Info{} // alone it makes zeros; with fields it would copy an Info
	i.Marking, i.Start, i.Shim, i.DSCP, i.Edit = by, uint16(at), uint16(at), l.DSCP, p.edit
	if at+ShimLen > end {
		return unsound(i, ReasonTruncated)
	}
	if len(b) < at+ShimLen {
		return NeedMore
	}
	if !udpLengthAgrees(b, l) {
		return unsound(i, ReasonUDPLength)
	}
	shim := binary.BigEndian.Uint32(b[at:])
	if by != ByPort && p.isOldShim(shim) {
		return p.oldShim(b, l, i, at, shim)
	}
	i.Type = Type(shim >> 28)
	i.NPT = uint8(shim >> 26 & 3)
	words := int(shim>>16&0xff) - p.counted
	if r := p.checkShim(i, words); r != ReasonNone {
		return unsound(i, r)
	}
	to := at + ShimLen + words*4
	if r := i.extend(b, to, end); r != Sound {
		return r
	}
	switch i.NPT {
	case 0:
		p.restoreDSCP(i, by, uint8(shim>>2)&0x3f, l.DSCP)
	case 1:
		i.Orig = uint16(shim)
	case 2:
		i.Orig = uint16(shim & 0xff)
		i.Start = l.L4
		i.Removed = i.End - i.Start
		if p.cut {
			break
		}
		if r := i.checkOriginal(b, l); r != Sound {
			return r
		}
	}
	return p.contents(b[at+ShimLen:to], at+ShimLen, i, only2)
}

// extend makes INT end at to.
func (i *Info) extend(b []byte, to, end int) Result {
	if to > end {
		return unsound(i, ReasonLength)
	}
	if len(b) < to {
		return NeedMore
	}
	i.End = uint16(to)
	i.Removed = i.End - i.Start
	return Sound
}

// restoreDSCP takes the DSCP that the shim carries; where it carries none, the one that the mark
// stands for, or the packet's own without the mark.
func (p *Locator) restoreDSCP(i *Info, by Marking, carried, dscp uint8) {
	if by != ByDSCP {
		return
	}
	if i.DSCP = carried; carried == 0 {
		i.DSCP = p.dscps.restored[dscp&63]
	}
}

// udpLengthAgrees reports whether a whole UDP datagram is as long as its IP packet.
// b holds the UDP header.
func udpLengthAgrees(b []byte, l *packet.Layers) bool {
	if l.Proto != packet.ProtoUDP || l.Fragment != packet.NotFragment {
		return true
	}
	return int(l.L4)+int(binary.BigEndian.Uint16(b[int(l.L4)+4:])) == int(l.End)
}

// checkShim checks the shim's fields against each other; words stand behind it. A
// Destination header without any is nothing that anybody sends, while payloads that
// look like one are common.
func (p *Locator) checkShim(i *Info, words int) Reason {
	switch {
	case !p.takes(i.Type):
		return ReasonType
	case i.Marking == ByPort && (i.NPT == 0 || i.NPT == 3), i.Marking != ByPort && i.NPT != 0:
		return ReasonNPT
	case words < 1, i.Type != Destination && words < MDLen/4:
		return ReasonLength
	}
	return ReasonNone
}

func unsound(i *Info, r Reason) Result {
	i.Reason = r
	return Unsound
}

// original checks what NPT 2 would leave: a UDP header must be as long as the rest of
// the packet, a TCP header must fit it. A wrong end of INT, such as that of a source
// whose shim Length counts the shim, shows itself here before a host gets a packet
// without ports. The original goes on at offset at of b, with IP protocol proto, and
// ends at end. Of a fragment the UDP length says nothing.
func original(b []byte, at, end int, proto uint16, fragment bool) Result {
	least := 0
	switch proto {
	case packet.ProtoUDP:
		least = packet.UDPLen
	case packet.ProtoTCP:
		least = packet.TCPLen
	default:
		return Sound
	}
	left := end - at
	if left < least {
		return Unsound
	}
	if len(b) < at+least {
		return NeedMore
	}
	h := b[at:][:least]
	if proto == packet.ProtoUDP {
		if !fragment && int(binary.BigEndian.Uint16(h[4:])) != left {
			return Unsound
		}
		return Sound
	}
	if offset := int(h[12]>>4) * 4; offset < packet.TCPLen || offset > left {
		return Unsound
	}
	return Sound
}

// checkOriginal is original for the packet that l describes.
func (i *Info) checkOriginal(b []byte, l *packet.Layers) Result {
	r := original(b, int(i.End), int(l.End), i.Orig, l.Fragment != packet.NotFragment)
	if r == Unsound {
		i.Reason = ReasonOriginal
	}
	return r
}
