package inthdr

import (
	"encoding/binary"

	"intsink/engine/packet"
)

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
