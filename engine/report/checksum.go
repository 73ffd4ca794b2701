package report

import (
	"encoding/binary"
	"math/bits"
)

// sum adds the big-endian 16-bit words of b to s (RFC 1071), eight bytes at a
// time; an odd last byte counts as the high half of a word.
func sum(s uint64, b []byte) uint64 {
	var carry uint64
	for ; len(b) >= 32; b = b[32:] { // one carry chain for four words
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[8:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[16:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[24:]), carry)
	}
	for ; len(b) >= 8; b = b[8:] {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
	}
	s, carry = bits.Add64(s, 0, carry)
	s += carry
	var rest uint64
	for shift := 56; len(b) > 0; shift, b = shift-8, b[1:] {
		rest |= uint64(b[0]) << shift
	}
	s, carry = bits.Add64(s, rest, 0)
	return s + carry
}

// fold is the 16-bit ones' complement sum of a sum's four words.
func fold(s uint64) uint16 {
	s = s>>48 + s>>32&0xffff + s>>16&0xffff + s&0xffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}
