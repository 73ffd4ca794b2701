// Writes Ethernet tags and IPv4 or IPv6 headers of generated packets.

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
