// Package checksum has the one's complement sums of IP, TCP and UDP checksums (RFC 1071).
// It is the only one in the program; engine/wire/intgen and bench/truth, which check it, and the
// loops in C of engine/fast have their own.
package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Sum returns the one's complement sum of b in 16-bit big-endian words, not inverted; an odd last
// byte counts as the high half of a word (RFC 1071).
func Sum(b []byte) uint16 { return bits.ReverseBytes16(Fold(SumLE(b))) }

// SumLE returns the one's complement sum of b in 64-bit little-endian words, which Fold makes one
// of 16 bits, with its bytes swapped (RFC 1071, section 2(B)). Carries are added in again.
func SumLE(b []byte) uint64 {
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
	for len(b) >= 8 {
		s, c = bits.Add64(s, binary.LittleEndian.Uint64(b), 0)
		s += c
		b = b[8:]
	}
	if len(b) >= 4 {
		s, c = bits.Add64(s, uint64(binary.LittleEndian.Uint32(b)), 0)
		s += c
		b = b[4:]
	}
	if len(b) >= 2 {
		s, c = bits.Add64(s, uint64(binary.LittleEndian.Uint16(b)), 0)
		s += c
		b = b[2:]
	}
	if len(b) > 0 {
		s, c = bits.Add64(s, uint64(b[0]), 0)
		s += c
	}
	return s
}

// Fold32 adds both halves of s and the carry: the upper half of s plus s rotated by 32 bits.
func Fold32(s uint64) uint32 { return uint32((s + bits.RotateLeft64(s, 32)) >> 32) }

// Fold returns the one's complement sum of the four 16-bit words of s; zero only for zero.
func Fold(s uint64) uint16 {
	t := Fold32(s)
	return uint16((t + bits.RotateLeft32(t, 16)) >> 16)
}

// AddOnes returns the one's complement sum of a and b.
func AddOnes(a, b uint16) uint16 {
	s := uint32(a) + uint32(b)
	return uint16(s>>16 + s)
}
