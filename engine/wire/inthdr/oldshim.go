// Shims and headers of INT 1.0 and of June 2016.

package inthdr

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// isOldShim reports whether a shim is of INT 1.0 or of June 2016. The first two bytes of these
// are the type and zero; in INT 2.x the type is never zero. It is called only where such a
// version is configured.
func (p *Locator) isOldShim(shim uint32) bool {
	if p.versions&(only1|only2016) == 0 {
		return false
	}
	return shim>>16 == uint32(MD)<<8 || shim>>16 == uint32(Destination)<<8
}

// oldShim is locateShim for INT 1.0 over TCP or UDP (INT 1.0, section 4.6.1):
// Length counts the shim itself.
func (p *Locator) oldShim(b []byte, l *packet.Layers, i *Info, at int, shim uint32) Result {
	i.Type = Type(shim >> 24)
	words := int(shim >> 8 & 0xff)
	if !p.takes(i.Type) {
		return unsound(i, ReasonType)
	}
	if words < 2 || i.Type == MD && words < 1+oldLen/4 {
		return unsound(i, ReasonLength)
	}
	to := at + words*4
	if r := i.extend(b, to, int(l.End)); r != Sound {
		return r
	}
	p.restoreDSCP(i, i.Marking, uint8(shim>>2)&0x3f, l.DSCP)
	return p.contents(b[at+ShimLen:to], at+ShimLen, i, only1)
}

// old reads the header, of eight bytes at least, of INT 1.0 (section 4.7) or of June 2016 (section 5.3.3).
func (p *Locator) old(h []byte, at int, i *Info) Result {
	w := binary.BigEndian.Uint32(h)
	i.Bitmap = binary.BigEndian.Uint16(h[4:])
	i.Stack = uint16(at + oldLen)
	n := len(h) - oldLen
	if i.Format != Format2016 {
		i.Discard = w&(1<<25) != 0 // C: a copy, not to be forwarded
		i.HopExceeded = w&(1<<24) != 0
		i.MTUExceeded = w&(1<<23) != 0
		i.HopML = uint8(w >> 8 & 0x1f)
		i.RemainingHops = uint8(w)
		i.Reason = p.stack(i, n)
		return Sound
	}
	i.Discard = w&(1<<27) != 0
	i.HopExceeded = w&(1<<26) != 0
	i.HopML = uint8(w >> 16 & 0x1f) // Instruction Count: words of a hop as well
	hops := int(w & 0xff)
	i.RemainingHops = uint8(w>>8) - uint8(hops)
	switch {
	case int(p.layout(i.Bitmap, Format2016).HopLen) != int(i.HopML)*4:
		i.Reason = ReasonInstructions
	case n != hops*int(i.HopML)*4:
		i.Reason = ReasonStack
	case n > 0:
		i.StackLen, i.HopLen, i.Hops = uint16(n), uint16(i.HopML)*4, uint16(hops)
	}
	return Sound
}
