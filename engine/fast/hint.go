// Hints: a small table from the EtherType and the bytes behind it that shapes compare to the shapes that are
// tried first, and the guesses of C; makes and forgets it.

package fast

import "encoding/binary"

// hintsFrom and hintsLen are the bytes that a hint is made of: the EtherType and what follows.
const (
	hintsFrom = 12
	hintsLen  = 16
)

// kindOf is the number of an EtherType: those that are in use have different ones.
func kindOf(f []byte) int { return int(f[12]^f[13]) / (256 / kinds) }

// forgetHints makes all hints, and all EtherTypes, those of no shape. The key is 2 to the 64 by
// the golden ratio.
func (s *State) forgetHints() {
	clear(s.ofKind[:])
	s.hintKey = 0x9e3779b97f4a7c15
	for i := range s.hints {
		s.hints[i] = noShape * 0x01010101
	}
	s.forgetGuesses()
}

// forgetGuesses has all guesses made anew: templates are about to change.
func (s *State) forgetGuesses() {
	for i := range s.guesses {
		s.guesses[i] = guess{of: [2]uint8{None, None}}
	}
}

// setKinds groups shapes by the kind of their EtherType. For each kind it finds the bytes that
// some of its shapes compare. Packets of a shape that does not compare all of them have
// many hints, which costs time alone.
func (p *Path) setKinds() {
	clear(p.kinds[:])
	clear(p.ofKind[:])
	var masks [kinds][hintsLen]byte
	for n := range p.shape[:p.shapes] {
		mask, kind := p.shape[n].front()
		of := &masks[kind]
		p.ofKind[kind] |= 1 << n
		for i := range of {
			of[i] |= mask[i]
		}
		p.kinds[kind].mask[0] = binary.LittleEndian.Uint64(of[:])
		p.kinds[kind].mask[1] = binary.LittleEndian.Uint64(of[8:])
	}
}

// front is what a shape compares of the bytes of a hint, and the kind of its EtherType.
func (p *shape) front() (mask [hintsLen]byte, kind int) {
	var f [hintsFrom + 2]byte
	for n, b := range p.block[:p.blocks] {
		for i, m := range b.mask {
			at := int(p.at[n]) + 2*i
			if at == hintsFrom {
				binary.BigEndian.PutUint16(f[at:], b.want[i])
			}
			if at >= hintsFrom && at < hintsFrom+hintsLen {
				binary.BigEndian.PutUint16(mask[at-hintsFrom:], m|binary.BigEndian.Uint16(mask[at-hintsFrom:]))
			}
		}
	}
	return mask, kindOf(f[:])
}
