// The mark of INT on packets that have none: which DSCP bears it, and which does not.

package inthdr

import "intsink/engine/wire/packet"

// BearsDSCP reports whether a packet's IP header has a DSCP that marks INT. l is what packet.Parse left with
// status s; then its DSCP and IPVersion are valid, and no more unless s is OK.
func (p *Locator) BearsDSCP(b []byte, l *packet.Layers, s packet.Status) bool {
	return p.byDSCP && l.ReadDSCP(b, s) && l.DSCP&p.dscpMask == p.dscpValue
}

// Unmarked returns dscp without what marks INT: without the bits of the mask, or, where INT's value is none of
// them, with the lowest one.
func (p *Locator) Unmarked(dscp uint8) uint8 {
	dscp &^= p.dscpMask
	if p.dscpValue == 0 {
		dscp |= p.dscpMask & -p.dscpMask
	}
	return dscp
}
