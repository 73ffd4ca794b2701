// What the parser of package engine does with the burst: Recognise and Set a packet that has a
// template after all, Drop those without INT.

package fast

import "math/bits"

// Recognise is the template of a packet, or None.
func (p *Path) Recognise(f []byte, pktLen int) uint8 {
	for n := range p.shapes {
		if k := &p.shape[n]; k.matches(f) {
			if at := p.templateOf(k, f, pktLen); at != None {
				return at
			}
		}
	}
	return None
}

// RecogniseNew is Recognise by the templates that were made since Receive.
func (p *Path) RecogniseNew(f []byte, pktLen int) uint8 {
	for left := p.fresh; left != 0; left &= left - 1 {
		at := uint8(bits.TrailingZeros64(left))
		if p.learned[at].shape != none && p.templates[at].matches(p.State, f, pktLen) {
			return at
		}
	}
	return None
}

// IsINT tells whether template at is of packets with INT.
func (p *Path) IsINT(at uint8) bool { return p.templates[at%maxTemplates].kind == isINT }

// Set makes packet f, which is j of the burst, one of template at, and tells whether it has
// INT.
func (p *Path) Set(j, at uint8, f []byte) bool {
	p.Template[j] = at
	t := &p.templates[at%maxTemplates]
	if t.kind != isINT {
		return false
	}
	t.setKey(&p.Keys[j], f)
	p.Hashes[j] = p.index.Hash(&p.Keys[j])
	return true
}

// Drop takes those packets out of the burst whose bits are set in gone.
func (p *Path) Drop(gone uint64) {
	if gone == 0 {
		return
	}
	n := 0
	for j := range int(p.ints) {
		if gone>>j&1 != 0 {
			continue
		}
		if n != j {
			p.At[n], p.Template[n], p.Hashes[n], p.Keys[n] = p.At[j], p.Template[j], p.Hashes[j], p.Keys[j]
		}
		n++
	}
	p.ints = uint32(n)
}

// Clear forgets the packets of the burst.
func (p *Path) Clear() { p.ints, p.deferred = 0, 0 }
