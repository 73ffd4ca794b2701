// Finds INT behind GRE and VXLAN-GPE headers and in Geneve options, checks their versions;
// the ECN field when the GRE tunnel that a source made is taken off (RFC 6040).

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// locateGRE finds INT behind the GRE header at l.L4 (INT 2.1, section "INT over
// IPv4/GRE").
func (p *Locator) locateGRE(b []byte, l *packet.Layers, i *Info) Result {
	at, end := int(l.L4), int(l.End)
	if at+packet.GRELen > end {
		return NotINT
	}
	if len(b) < at+packet.GRELen {
		return NeedMore
	}
	flags := binary.BigEndian.Uint16(b[at:])
	if binary.BigEndian.Uint16(b[at+2:]) != p.greProtocol {
		return NotINT
	}
	shim := at + packet.GREHeaderLen(flags)
	*i = Info{Marking: ByGRE, Start: uint16(min(shim, end)), Shim: uint16(min(shim, end)), DSCP: l.DSCP}
	if flags&(packet.GRERouting|packet.GREVersion) != 0 {
		return unsound(i, ReasonTunnel)
	}
	if r := p.chain(b, end, i); r != Sound {
		return r
	}
	if i.Next < packet.MinEtherType || i.Next == packet.ReservedEtherType { // INT 2.1, 5.7.1: to be discarded
		return unsound(i, ReasonTunnel)
	}
	if i.Inserted {
		i.Start = l.L3 // the sink that did not end the tunnel takes it off as well
		if i.Next == packet.EtherTypeEthernet {
			i.Start = 0
		}
		if i.Next != packet.EtherTypeIPv4 && i.Next != packet.EtherTypeIPv6 && i.Start != 0 && packet.EtherTypeAt(l)+2 != int(l.L3) {
			return unsound(i, ReasonTunnel) // MPLS labels carry IP only
		}
		if i.Start == 0 && int(i.End)+14 > end || len(b) < int(l.L3) {
			return unsound(i, ReasonLength)
		}
		i.Removed = i.End - i.Start
		return i.decapsulate(b, l)
	}
	return Sound
}

// Next protocol values that said INT before 2.0.
const (
	gpeINT1    = 0x08 // INT 1.0, section 4.6.2
	gpeINT2016 = 0x05 // June 2016, section 5.3.2
)

// locateGPE finds INT behind a VXLAN-GPE header.
func (p *Locator) locateGPE(b []byte, l *packet.Layers, i *Info) Result {
	at, end := int(l.Payload), int(l.End)
	if at+packet.VXLANLen > end {
		return NotINT
	}
	if len(b) < at+packet.VXLANLen {
		return NeedMore
	}
	if b[at]&packet.VXLANHasNextProtocol == 0 || !p.isNextINT(b[at+3]) {
		return NotINT
	}
	*i = Info{
		Marking: ByVXLANGPE, Start: uint16(at + packet.VXLANLen), Shim: uint16(at + packet.VXLANLen), DSCP: l.DSCP, Edit: p.edit,
		Next: uint16(b[at+3]),
	}
	if !udpLengthAgrees(b, l) {
		return unsound(i, ReasonUDPLength)
	}
	if r := p.chain(b, end, i); r != Sound {
		return r
	}
	if i.Inserted = i.Inserted && i.Next == packet.GPENextEthernet; i.Inserted { // back to plain VXLAN, on its port; it carries nothing else
		i.NPT, i.Orig = 1, packet.PortVXLAN
	}
	return Sound
}

func (p *Locator) isNextINT(next uint8) bool {
	return next == p.gpe.NextProtocol || next == gpeINT1 && p.versions&only1 != 0 || next == gpeINT2016 && p.versions&only2016 != 0
}

// locateGeneve finds INT in Geneve options (INT 2.1, section "INT over Geneve").
// Other options may stand before, between and behind.
func (p *Locator) locateGeneve(b []byte, l *packet.Layers, i *Info) Result {
	at, end := int(l.Payload), int(l.End)
	if at+packet.GeneveLen > end {
		return NotINT
	}
	if len(b) < at+packet.GeneveLen {
		return NeedMore
	}
	if b[at]>>6 != 0 { // a version that RFC 8926 does not define
		return NotINT
	}
	*i = Info{Marking: ByGeneve, DSCP: l.DSCP, Edit: p.edit}
	to := at + packet.GeneveHeaderLen(b[at])
	if to > end {
		return unsound(i, ReasonTunnel)
	}
	if len(b) < to {
		return NeedMore
	}
	for at += packet.GeneveLen; at < to; {
		n := packet.GeneveOptionLen + int(b[at+3]&0x1f)*4 // the fourth byte is there: all lengths are words
		if at+n > to {
			return unsound(i, ReasonTunnel)
		}
		if binary.BigEndian.Uint16(b[at:]) == p.geneve.OptionClass {
			if r := p.geneveOption(b[at:at+n], at, i); r != Sound {
				return r
			}
		}
		at += n
	}
	if i.Removed == 0 {
		return NotINT
	}
	if !udpLengthAgrees(b, l) {
		return unsound(i, ReasonUDPLength)
	}
	return Sound
}

// geneveOption takes in one option of INT's class, which stands at offset at.
func (p *Locator) geneveOption(o []byte, at int, i *Info) Result {
	kind := Type(o[2])
	if !p.takes(kind) {
		return unsound(i, ReasonType)
	}
	if len(o) == packet.GeneveOptionLen {
		return unsound(i, ReasonLength)
	}
	fresh := i.Removed == 0
	if fresh {
		i.Start, i.Type = uint16(at), kind
	}
	i.End = uint16(at + len(o))
	i.Removed += uint16(len(o))
	if fresh && kind != Destination || i.Type == Destination && kind != Destination {
		i.Type, i.Shim = kind, uint16(at)
		return p.contents(o[packet.GeneveOptionLen:], at+packet.GeneveOptionLen, i, anyFormat)
	}
	if fresh {
		i.Shim = uint16(at)
	}
	if r := p.soundContents(o[packet.GeneveOptionLen:], kind, anyFormat); r != ReasonNone {
		return unsound(i, r)
	}
	return Sound
}

// ECN codepoints (RFC 3168).
const (
	notECT = 0
	ect1   = 1
	ect0   = 2
	ce     = 3
)

// decapsulate says what the ECN field of the packet inside of a tunnel becomes
// when the tunnel, whose IP header l describes, is taken off (RFC 6040, section 4.2, figure 4):
// a mark that a queue on the way made must not get lost.
func (i *Info) decapsulate(b []byte, l *packet.Layers) Result {
	outer := ecnOf(b[l.L3:])
	if outer != ect1 && outer != ce {
		return Sound // these two change nothing
	}
	var in packet.Layers
	switch packet.ParseInner(b, int(i.End), int(l.End), i.Next, &in) {
	case packet.NeedMore:
		return NeedMore
	case packet.OK:
	default:
		return Sound // no IP, or none that is whole
	}
	switch inner := ecnOf(b[in.L3:]); {
	case outer == ce && inner == notECT:
		i.Edit |= DropCongested
	case outer == ce && inner != ce:
		i.Edit |= SetCE
	case outer == ect1 && inner == ect0:
		i.Edit |= SetECT1
	}
	return Sound
}

// ecnOf reads the ECN field of an IP header.
func ecnOf(h []byte) uint8 {
	if h[0]>>4 == 4 {
		return h[1] & 3
	}
	return h[1] >> 4 & 3
}
