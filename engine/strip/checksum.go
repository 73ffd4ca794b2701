package strip

import (
	"encoding/binary"
	"math/bits"
)

// Sum is the one's complement sum of b in 16-bit words (RFC 1071), not
// inverted. len(b) must be a multiple of four, as everything of INT is.
//
// It adds 64-bit words in the machine's order, which RFC 1071 section 2(B)
// allows, in carry chains of four, and folds once.
func Sum(b []byte) uint16 {
	var s, c uint64
	for len(b) >= 32 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), 0)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[8:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[16:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[24:]), c)
		s += c // cannot carry: a sum that carried is below all ones
		b = b[32:]
	}
	t := s>>32 + s&0xffffffff // room for the rest without carries
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		t += w>>32 + w&0xffffffff
		b = b[8:]
	}
	if len(b) >= 4 {
		t += uint64(binary.LittleEndian.Uint32(b))
	}
	t = t>>32 + t&0xffffffff
	t = t>>32 + t&0xffffffff
	return bits.ReverseBytes16(fold32(uint32(t)))
}

// fold32 folds a sum of 16-bit words into one, carries added in.
func fold32(s uint32) uint16 {
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}
