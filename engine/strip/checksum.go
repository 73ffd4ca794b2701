package strip

import (
	"encoding/binary"
	"math/bits"
)

// Sum is the one's complement sum of b in 16-bit words (RFC 1071), not
// inverted. len(b) must be even.
func Sum(b []byte) uint16 { return bits.ReverseBytes16(fold(sum(b))) }

// sum adds 64-bit words in the machine's order, which RFC 1071 section 2(B)
// allows, in carry chains of eight. The result is below 2^36: there is room to
// add some thousand 16-bit words, little endian as they stand in the packet,
// before it is folded.
func sum(b []byte) uint64 {
	var s, c uint64
	for len(b) >= 64 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), 0)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[8:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[16:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[24:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[32:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[40:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[48:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[56:]), c)
		s += c // cannot carry: a sum that carried is below all ones
		b = b[64:]
	}
	if len(b) >= 32 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), 0)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[8:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[16:]), c)
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b[24:]), c)
		s += c
		b = b[32:]
	}
	s = s>>32 + s&0xffffffff // room for the rest without carries
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		s += w>>32 + w&0xffffffff
		b = b[8:]
	}
	if len(b) >= 4 {
		s += uint64(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		s += uint64(binary.LittleEndian.Uint16(b))
	}
	return s
}

// fold folds a sum below 2^48 of 16-bit words into one, carries added in.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s)
}

// fold32 folds a sum of less than 65536 16-bit words.
func fold32(s uint32) uint16 {
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s)
}
