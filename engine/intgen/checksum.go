// Adds up and patches the checksums of generated packets itself, so that a wrong checksum stays as
// wrong as it was.

package intgen

import (
	"encoding/binary"
	"net/netip"
)

// pseudo is the sum of the pseudo header (RFC 768, RFC 8200 section 8.1).
func pseudo(src, dst netip.Addr, proto uint8, length int) uint32 {
	return sum(sum(uint32(proto)+uint32(length), src.AsSlice()), dst.AsSlice())
}

// sum adds the 16-bit words of b to s; an odd last byte is a word's upper half.
func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

func fold(s uint32) uint16 {
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s)
}

// change is what a checksum over old has to be patched by when old becomes b.
func change(old, b []byte) uint32 {
	return uint32(^fold(sum(0, old))) + uint32(fold(sum(0, b)))
}

// grow is what a checksum has to be patched by when a length in it grows by n.
func grow(length, n int) uint32 {
	return uint32(^uint16(length)) + uint32(uint16(length+n))
}

// patch adds delta to a checksum (RFC 1624, equation 3): right stays right, wrong
// stays wrong.
func patch(c []byte, delta uint32) {
	s := uint32(^binary.BigEndian.Uint16(c)) + delta>>16 + delta&0xffff
	binary.BigEndian.PutUint16(c, ^fold(s))
}

// patchUDP is patch with the two rules of RFC 768: zero means no checksum, and a
// checksum of zero is sent as all ones.
func patchUDP(c []byte, delta uint32) {
	if c[0]|c[1] == 0 {
		return
	}
	patch(c, delta)
	if c[0]|c[1] == 0 {
		c[0], c[1] = 0xff, 0xff
	}
}
