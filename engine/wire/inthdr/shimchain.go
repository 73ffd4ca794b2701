// Follows chains of INT shims, one behind the other, by next protocol or by INT's port as
// original port.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// chain reads one shim after the other from i.Start on, as long as the next protocol is INT, and
// the contents of the first MD or MX header. i.Next is the next protocol of VXLAN-GPE that names
// the first shim.
func (p *Locator) chain(b []byte, end int, i *Info) Result {
	at, first := int(i.Start), true
	for {
		if at+ShimLen > end {
			return unsound(i, ReasonTruncated)
		}
		if len(b) < at+ShimLen {
			return NeedMore
		}
		s := p.tunnelShim(b[at:at+ShimLen], i.Marking, i.Next)
		to := at + s.size
		if !p.takes(s.kind) {
			return unsound(i, ReasonType)
		}
		if s.size <= ShimLen {
			return unsound(i, ReasonLength)
		}
		if r := i.extend(b, to, end); r != Sound {
			return r
		}
		if first {
			i.Type, i.Inserted, first = s.kind, s.inserted, false
		}
		if i.Type == Destination && s.kind != Destination { // MD or MX should come first
			i.Type, i.Shim = s.kind, uint16(at)
		}
		if i.Shim == uint16(at) {
			if r := p.contents(b[at+ShimLen:to], at+ShimLen, i, s.allowed); r != Sound {
				return r
			}
		} else if r := p.soundContents(b[at+ShimLen:to], s.kind, s.allowed); r != ReasonNone {
			return unsound(i, r)
		}
		at, i.Next = to, s.next
		if !s.more {
			return Sound
		}
	}
}

// shim of GRE or VXLAN-GPE.
type shim struct {
	kind     Type
	size     int // bytes, itself included
	inserted bool
	next     uint16
	more     bool    // next is INT again
	allowed  formats // of the header behind it
}

// tunnelShim reads a shim; named is the next protocol of VXLAN-GPE in front of it.
func (p *Locator) tunnelShim(b []byte, by Marking, named uint16) shim {
	v := binary.BigEndian.Uint32(b)
	size := ShimLen + (int(v>>16&0xff)-p.counted)*4
	if by == ByGRE {
		next := uint16(v)
		return shim{Type(v >> 28), size, v&(1<<27) != 0, next, next == p.greProtocol, only2}
	}
	next, allowed := uint8(v), p.namedBy(uint8(named))
	if p.isOldShim(v) {
		return shim{Type(v >> 24), int(v>>8&0xff) * 4, false, uint16(next), p.isNextINT(next), allowed &^ only2}
	}
	return shim{Type(v >> 28), size, v&(1<<15) != 0, uint16(next), p.isNextINT(next), allowed & only2}
}

// namedBy returns the formats of INT that a next protocol of VXLAN-GPE can name. One of June 2016
// cannot be told from one of 2.x by its first bits.
func (p *Locator) namedBy(next uint8) formats {
	switch {
	case next == p.gpe.NextProtocol && next != gpeINT2016 && p.versions&only2 != 0:
		return only2 | only1
	case next == p.gpe.NextProtocol:
		return anyFormat
	case next == gpeINT1:
		return only1
	}
	return only2016
}

// soundContents checks a header of a chain whose contents are not read, and returns what is
// wrong with it.
func (p *Locator) soundContents(h []byte, kind Type, allowed formats) Reason {
	if kind == Destination {
		if allowed&p.versions == 0 {
			return ReasonVersion
		}
		return ReasonNone
	}
	if len(h) < oldLen {
		return ReasonLength
	}
	f, known := p.formatOf(h[0]>>4, allowed)
	switch {
	case !known || f != Format2 && kind != MD:
		return ReasonVersion
	case f == Format2 && len(h) < MDLen:
		return ReasonLength
	}
	return ReasonNone
}

// locateByPort is locateShim for INT's UDP port.
func (p *Locator) locateByPort(b []byte, l *packet.Layers, i *Info) Result {
	r := p.locateShim(b, l, i, ByPort, int(l.Payload))
	if r == Sound && i.NPT == 1 && i.Orig == p.port {
		p.addFollowers(b, l, i)
	}
	return r
}

// addFollowers takes in the shims of a chain: the original port of a shim is INT's
// own where another shim follows. The last one may have NPT 2: then the UDP header
// was made for INT. What is no sound shim is the payload of somebody who uses INT's
// port for something else.
func (p *Locator) addFollowers(b []byte, l *packet.Layers, i *Info) {
	for i.NPT == 1 && i.Orig == p.port {
		var next Info
		if p.locateShim(b, l, &next, ByPort, int(i.End)) != Sound {
			return
		}
		start, end := i.Start, next.End
		if next.NPT == 2 {
			start = l.L4
		}
		if i.Type == Destination && next.Type != Destination {
			*i = next
		}
		i.NPT, i.Orig = next.NPT, next.Orig
		i.Start, i.End, i.Removed = start, end, end-start
	}
}
