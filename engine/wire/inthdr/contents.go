// Reads the MD and MX header behind the shim: version, Hop ML against bitmap and domain,
// division of the stack into hops.

package inthdr

import "encoding/binary"

// contents reads the header behind the shim; h is exactly what the shim's
// Length covers, and stands at offset at of the frame. It must have a configured
// version that is one of allowed, or nothing is known of the packet; that of a
// Destination header is its shim's.
func (p *Locator) contents(h []byte, at int, i *Info, allowed formats) Result {
	if i.Type == Destination { // no format is defined: opaque
		if allowed&p.versions == 0 {
			return unsound(i, ReasonVersion)
		}
		return Sound
	}
	if len(h) < oldLen {
		return unsound(i, ReasonLength)
	}
	f, known := p.formatOf(h[0]>>4, allowed)
	if !known || f != Format2 && i.Type != MD {
		return unsound(i, ReasonVersion)
	}
	i.Format = f
	if f != Format2 {
		return p.old(h, at, i)
	}
	if len(h) < MDLen {
		return unsound(i, ReasonLength)
	}
	w := binary.BigEndian.Uint32(h)
	i.Discard = w&(1<<27) != 0
	i.Bitmap = binary.BigEndian.Uint16(h[4:])
	i.DomainID = binary.BigEndian.Uint16(h[6:])
	i.DSInstruction = binary.BigEndian.Uint16(h[8:])
	i.Stack = uint16(at + MDLen)
	if i.Type == MX {
		i.Reason = p.sourceInserted(i, len(h)-MDLen)
		return Sound
	}
	i.HopExceeded = w&(1<<26) != 0
	i.MTUExceeded = w&(1<<25) != 0
	i.HopML = uint8(w >> 8 & 0x1f)
	i.RemainingHops = uint8(w)
	i.Reason = p.stack(i, len(h)-MDLen)
	return Sound
}

// formatOf returns the configured format that a header's first four bits name, of those that its
// shim and its place allow. Those of June 2016 are a version of two bits, zero, and two others.
func (p *Locator) formatOf(version uint8, allowed formats) (Format, bool) {
	allowed &= p.versions
	switch {
	case version == 2 && allowed&only2 != 0:
		return Format2, true
	case version == 1 && allowed&only1 != 0:
		return p.format1, true
	}
	return Format2016, version < 4 && allowed&only2016 != 0
}

// stack checks n bytes of metadata against Hop ML, the Instruction Bitmap and
// the domain, and sets the hops if they agree (INT 2.1: the length is a
// multiple of Hop ML * 4, plus source-only metadata).
func (p *Locator) stack(i *Info, n int) Reason {
	perHop, source, known := p.domainLengths(i)
	if n == 0 && known {
		return ReasonNone // a source without metadata of its own
	}
	hop := int(i.HopML) * 4
	base := int(p.Layout(i).HopLen)
	switch {
	case !known && n > 0 && hop < base:
		return ReasonHopML
	case !known: // even with hops of the length that they should have: what the source alone added may look like one more
		return ReasonUnknownDomain
	case known && hop != base+perHop:
		return ReasonHopML
	}
	if source <= n && (hop == 0 && n == source || hop > 0 && (n-source)%hop == 0) {
		i.SourceLen = uint16(source)
		n -= source
	} else if hop == 0 || n%hop != 0 { // else: DS Instruction names it, and the source did not add it
		return ReasonStack
	}
	if n > 0 {
		i.StackLen, i.HopLen, i.Hops = uint16(n), uint16(hop), uint16(n/hop)
	}
	return ReasonNone
}
