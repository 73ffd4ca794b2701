// The mark of INT in the DSCP: which values bear it, what they become without INT.

package inthdr

import (
	"math/bits"

	"intsink/engine/wire/packet"
)

// dscps is what each DSCP says.
type dscps struct {
	marked   uint64    // bit n: DSCP n marks INT
	restored [64]uint8 // DSCP of a packet that came with one that marks INT and whose shim carries none
	unmarked [64]uint8 // of a packet that bears the mark and has no INT; never a mark where another is left
}

// dscpsOf compiles all. Of two that mark the same DSCP the first counts.
func dscpsOf(all []DSCP) (d dscps) {
	for k := range all {
		m := &all[k]
		for n := range uint8(64) {
			if n&m.Mask != m.Value&m.Mask || d.marks(n) {
				continue
			}
			d.marked |= 1 << n
			if d.restored[n] = n &^ m.Mask; m.Restore != nil {
				d.restored[n] = *m.Restore & 63
			}
			if d.unmarked[n] = d.restored[n]; m.Restore == nil && m.Value&m.Mask == 0 { // the mark is that these bits are not set
				d.unmarked[n] |= m.Mask & -m.Mask
			}
		}
	}
	for n := range d.unmarked {
		if free := ^d.marked; d.marks(d.unmarked[n]) && free != 0 {
			d.unmarked[n] = uint8(bits.TrailingZeros64(free))
		}
	}
	return d
}

func (d *dscps) marks(dscp uint8) bool { return d.marked>>(dscp&63)&1 != 0 }

// BearsDSCP reports whether a packet's IP header has a DSCP that marks INT. l is what packet.Parse left with
// status s; then its DSCP and IPVersion are valid, and no more unless s is OK.
func (p *Locator) BearsDSCP(b []byte, l *packet.Layers, s packet.Status) bool {
	return p.byDSCP && l.ReadDSCP(b, s) && p.dscps.marks(l.DSCP) && (p.only == nil || s == packet.OK && p.only.has(b, l))
}

// Unmarked returns what a DSCP that marks INT becomes on a packet without INT: what its mark stands for, or itself
// without the bits of the mask; where these mark INT by being zero, with the lowest of them; where that is a mark
// again, the lowest value that is none.
func (p *Locator) Unmarked(dscp uint8) uint8 { return p.dscps.unmarked[dscp&63] }
