// Completes checksums that the kernel left to the device (VIRTIO_NET_HDR_F_NEEDS_CSUM).

package afpacket

import (
	"encoding/binary"
	"math/bits"
)

// sum adds the 16-bit words of b to start, in the machine's byte order: one's
// complement sums do not depend on it (RFC 1071). start is an earlier sum of an even
// number of bytes.
func sum(b []byte, start uint64) uint64 {
	var carry uint64
	s := start
	for len(b) >= 32 {
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(b), carry)
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(b[8:]), carry)
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(b[16:]), carry)
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(b[24:]), carry)
		b = b[32:]
	}
	for len(b) >= 8 {
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(b), carry)
		b = b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		s, carry = bits.Add64(s, binary.NativeEndian.Uint64(last[:]), carry)
	}
	s, carry = bits.Add64(s, 0, carry)
	return s + carry
}

// fold makes 16 bits of a sum: the checksum, to be stored in the machine's byte order.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return ^uint16(s)
}

// complete writes the checksum that the kernel left to the device: over the bytes from
// start on, to the place offset behind it, where the sum of the pseudo header stands
// (VIRTIO_NET_HDR_F_NEEDS_CSUM). It tells whether both are within the packet.
func complete(packet []byte, start, offset int) bool {
	if start+offset+2 > len(packet) {
		return false
	}
	c := fold(sum(packet[start:], 0))
	const ofUDP = 6
	if c == 0 && offset == ofUDP {
		c = 0xffff // 0 would say that there is none (RFC 768)
	}
	binary.NativeEndian.PutUint16(packet[start+offset:], c)
	return true
}
