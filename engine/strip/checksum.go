package strip

import (
	"encoding/binary"
	"math/bits"
)

// Sum is the one's complement sum of b in 16-bit words (RFC 1071), not
// inverted. len(b) must be a multiple of four, as everything of INT is.
//
// It adds 64-bit words in the machine's order, which RFC 1071 section 2(B)
// allows, and folds once.
func Sum(b []byte) uint16 {
	var s, carry uint64
	for len(b) >= 8 {
		s, carry = bits.Add64(s, binary.LittleEndian.Uint64(b), carry)
		b = b[8:]
	}
	if len(b) >= 4 {
		s, carry = bits.Add64(s, uint64(binary.LittleEndian.Uint32(b)), carry)
	}
	s, carry = bits.Add64(s, 0, carry)
	s += carry
	s = s>>32 + s&0xffffffff
	s = s>>32 + s&0xffffffff
	return bits.ReverseBytes16(fold32(uint32(s)))
}

// fold32 folds a sum of 16-bit words into one, carries added in.
func fold32(s uint32) uint16 {
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}
