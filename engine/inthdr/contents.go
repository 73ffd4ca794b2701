package inthdr

import "encoding/binary"

// contents reads the header behind the shim; h is exactly what the shim's
// Length covers. MD and MX must have a configured version, or nothing is known
// of the packet.
func (p *Locator) contents(h []byte, i *Info) Result {
	if i.Type == Destination {
		return Sound // no format is defined: opaque
	}
	if len(h) < mdLen || h[0]>>4 != 2 || !p.version2 {
		return unsound(i, ReasonVersion)
	}
	w := binary.BigEndian.Uint32(h)
	i.Discard = w&(1<<27) != 0
	i.Bitmap = binary.BigEndian.Uint16(h[4:])
	i.DomainID = binary.BigEndian.Uint16(h[6:])
	i.DSInstruction = binary.BigEndian.Uint16(h[8:])
	i.Stack = i.Shim + shimLen + mdLen
	if i.Type == MX {
		return Sound
	}
	i.HopExceeded = w&(1<<26) != 0
	i.MTUExceeded = w&(1<<25) != 0
	i.HopML = uint8(w >> 8 & 0x1f)
	i.RemainingHops = uint8(w)
	i.Reason = p.stack(i, len(h)-mdLen)
	return Sound
}

// stack checks n bytes of metadata against Hop ML, the Instruction Bitmap and
// the domain, and sets the hops if they agree (INT 2.1: the length is a
// multiple of Hop ML * 4, plus source-only metadata).
func (p *Locator) stack(i *Info, n int) Reason {
	if n == 0 {
		return ReasonNone // a source without metadata of its own
	}
	hop := int(i.HopML) * 4
	perHop, source, known := p.domainLengths(i)
	base := int(p.Layout(i.Bitmap).HopLen)
	switch {
	case !known && hop < base:
		return ReasonHopML
	case !known && hop > base:
		return ReasonUnknownDomain
	case known && hop != base+perHop:
		return ReasonHopML
	}
	if hop == 0 {
		if n != source {
			return ReasonStack
		}
		i.SourceLen = uint16(n)
		return ReasonNone
	}
	if n%hop != 0 {
		if n < source || (n-source)%hop != 0 {
			return ReasonStack
		}
		n -= source
		i.SourceLen = uint16(source)
	}
	i.StackLen, i.HopLen, i.Hops = uint16(n), uint16(hop), uint16(n/hop)
	return ReasonNone
}

// domainLengths returns the bytes that DS Instruction asks of each hop, and of
// the source alone. Domain 0 has no instructions: its bits are reserved.
func (p *Locator) domainLengths(i *Info) (perHop, source int, known bool) {
	if i.DomainID == 0 || i.DSInstruction == 0 {
		return 0, 0, true
	}
	for d := range p.domains {
		if p.domains[d].ID != i.DomainID {
			continue
		}
		for bit, in := range p.domains[d].Bits {
			switch {
			case i.DSInstruction&(1<<(15-bit)) == 0:
			case in.SourceOnly:
				source += int(in.Length)
			default:
				perHop += int(in.Length)
			}
		}
		return perHop, source, true
	}
	return 0, 0, false
}
