// Writes Ethernet tags and IPv4 or IPv6 headers of generated packets; adds up and patches
// their checksums itself, so that a wrong checksum stays as wrong as it was.

package intgen

import (
	"encoding/binary"
	"net/netip"
)

// EtherTypes.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherTEB  = 0x6558 // transparent Ethernet bridging: a whole frame follows
	etherMPLS = 0x8847
	etherVLAN = 0x8100
	etherQinQ = 0x88a8
)

// ipHeader is an IPv4 or IPv6 header: the addresses tell which.
type ipHeader struct {
	src, dst    netip.Addr
	proto, dscp uint8
	id          uint16 // IPv4
	options     []byte // IPv4
}

func (h *ipHeader) etherType() uint16 {
	if h.src.Is4() {
		return etherIPv4
	}
	return etherIPv6
}

// append writes the header of a packet with so many bytes behind it.
func (h *ipHeader) append(b []byte, payload int) []byte {
	if !h.src.Is4() {
		b = append(b, 0x60|h.dscp>>2, h.dscp<<6, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(payload))
		b = append(b, h.proto, 64)
		return append(append(b, h.src.AsSlice()...), h.dst.AsSlice()...)
	}
	at := len(b)
	b = append(b, 0x45+uint8(len(h.options)/4), h.dscp<<2)
	b = binary.BigEndian.AppendUint16(b, uint16(20+len(h.options)+payload))
	b = binary.BigEndian.AppendUint16(b, h.id)
	b = append(b, 0x40, 0, 64, h.proto, 0, 0)
	b = append(append(b, h.src.AsSlice()...), h.dst.AsSlice()...)
	b = append(b, h.options...)
	binary.BigEndian.PutUint16(b[at+10:], ^fold(sum(0, b[at:])))
	return b
}

// appendTags writes VLAN tags, all but the innermost of them service tags (IEEE
// 802.1ad).
func appendTags(b []byte, tags ...uint16) []byte {
	for i, tag := range tags {
		tpid := uint16(etherQinQ)
		if i == len(tags)-1 {
			tpid = etherVLAN
		}
		b = binary.BigEndian.AppendUint16(b, tpid)
		b = binary.BigEndian.AppendUint16(b, tag)
	}
	return b
}

// pseudo returns the sum of the pseudo header (RFC 768, RFC 8200 section 8.1).
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
