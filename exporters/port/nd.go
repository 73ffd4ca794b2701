// Neighbor Discovery for IPv6 (RFC 4861): solicitations, advertisements, ICMPv6 checksum.

package port

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/packet"
	"intsink/internal/checksum"
)

// Neighbor Discovery (RFC 4861, sections 4.3, 4.4, 4.6.1), after an IPv6 header of
// 40 bytes without extensions and with hop limit 255:
//
//	0 type   1 code 0   2 checksum   4 flags   8 target address   24 options
const (
	ndLen    = 24
	optLen   = 8   // type, length in units of 8 bytes, MAC
	hopLimit = 255 // no router has passed it on

	neighborSolicitation  = 135
	neighborAdvertisement = 136
	optSourceMAC          = 1
	optTargetMAC          = 2
	flagSolicited         = 1 << 30
	flagOverride          = 1 << 29
)

// parseND fills m from an IPv6 packet that came from the MAC address source. A
// solicitation without the option is from source.
func (m *message) parseND(b []byte, source MAC) bool {
	if len(b) < packet.IPv6Len+ndLen || b[0]>>4 != 6 || b[6] != packet.ProtoICMPv6 || b[7] != hopLimit {
		return false
	}
	length := int(binary.BigEndian.Uint16(b[4:]))
	if length < ndLen || packet.IPv6Len+length > len(b) {
		return false
	}
	src, dst := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	icmp := b[packet.IPv6Len : packet.IPv6Len+length]
	if icmp[1] != 0 || icmpChecksum(b[8:40], icmp) != 0 {
		return false
	}
	target := netip.AddrFrom16([16]byte(icmp[8:24]))
	var want byte
	switch icmp[0] {
	case neighborSolicitation:
		m.question, m.from, m.target, m.mac = true, src, target, source
		want = optSourceMAC
	case neighborAdvertisement:
		m.from, m.target, m.mac = target, dst, source
		m.override = icmp[4]&(flagOverride>>24) != 0
		want = optTargetMAC
	default:
		return false
	}
	return m.options(icmp[ndLen:], want)
}

// options takes the MAC address out of the option of type want.
func (m *message) options(b []byte, want byte) bool {
	for len(b) > 0 {
		if len(b) < 8 || b[1] == 0 || int(b[1])*8 > len(b) {
			return false
		}
		if b[0] == want && b[1] == 1 {
			m.mac, m.tells = MAC(b[2:8]), true
		}
		b = b[int(b[1])*8:]
	}
	return true
}

// putSolicitation writes a frame that asks for target's MAC address, to its
// solicited-node multicast address (RFC 4291, section 2.7.1).
func (n *neighbor) putSolicitation(b []byte, target netip.Addr) int {
	to := target.As16()
	dst := [16]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff, 13: to[13], 14: to[14], 15: to[15]}
	return n.putND(b, multicastMAC(dst), netip.AddrFrom16(dst), target, neighborSolicitation, 0, optSourceMAC)
}

// putAdvertisement writes the answer to q. Who asks without an address of its own
// wants to know whether ours is free: all nodes are told (RFC 4861, section 7.2.4).
func (n *neighbor) putAdvertisement(b []byte, q *message) int {
	dst, eth, flags := q.from, q.mac, uint32(flagSolicited|flagOverride)
	if q.from.IsUnspecified() {
		all := [16]byte{0: 0xff, 1: 0x02, 15: 1}
		dst, eth, flags = netip.AddrFrom16(all), multicastMAC(all), flagOverride
	}
	return n.putND(b, eth, dst, n.source, neighborAdvertisement, flags, optTargetMAC)
}

func (n *neighbor) putND(b []byte, eth MAC, dst, target netip.Addr, kind byte, flags uint32, option byte) int {
	p := putEthernet(b, eth, n.mac, n.vlan, packet.EtherTypeIPv6)
	front := len(b) - len(p)
	clear(p[:packet.IPv6Len+ndLen+optLen])
	p[0], p[6], p[7] = 0x60, packet.ProtoICMPv6, hopLimit
	binary.BigEndian.PutUint16(p[4:], ndLen+optLen)
	from, to, about := n.source.As16(), dst.As16(), target.As16()
	copy(p[8:], from[:])
	copy(p[24:], to[:])
	icmp := p[packet.IPv6Len : packet.IPv6Len+ndLen+optLen]
	icmp[0] = kind
	binary.BigEndian.PutUint32(icmp[4:], flags)
	copy(icmp[8:], about[:])
	icmp[ndLen], icmp[ndLen+1] = option, 1
	copy(icmp[ndLen+2:], n.mac[:])
	binary.BigEndian.PutUint16(icmp[2:], icmpChecksum(p[8:40], icmp))
	return front + packet.IPv6Len + ndLen + optLen
}

// multicastMAC is where an IPv6 multicast address is on Ethernet (RFC 2464,
// section 7).
func multicastMAC(a [16]byte) MAC { return MAC{0x33, 0x33, a[12], a[13], a[14], a[15]} }

// icmpChecksum is the checksum of an ICMPv6 message between two addresses, 0
// where it holds a right one (RFC 4443, section 2.3).
func icmpChecksum(addresses, icmp []byte) uint16 {
	pseudo := checksum.AddOnes(checksum.Sum(addresses), uint16(len(icmp))+packet.ProtoICMPv6)
	return ^checksum.AddOnes(pseudo, checksum.Sum(icmp))
}
