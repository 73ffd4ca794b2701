// message: an ARP request or reply, or a Neighbor Discovery solicitation or advertisement
// (RFC 826, RFC 4861): parses and makes them, with Ethernet headers; MAC.

package port

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// message is what ARP and Neighbor Discovery have in common.
type message struct {
	question bool       // who has target?
	from     netip.Addr // a question's sender; whose address an answer gives
	mac      MAC        // of from
	target   netip.Addr // whose address is asked for; to whom an answer goes
	vlan     uint16     // 0: no tag, or one of priority only
	tells    bool       // mac is that of from, by the message's own words
	override bool       // an answer that replaces what was known before
}

const (
	minFrame     = 60 // without the checksum
	etherTypeARP = 0x0806
)

// parse reads an ARP or Neighbor Discovery frame; false where it is none, or not
// a sound one. A frame's source must be one host's.
func parse(b []byte) (m message, ok bool) {
	if len(b) < packet.EthernetLen+packet.VLANLen {
		return m, false
	}
	etherType, rest := binary.BigEndian.Uint16(b[12:]), b[packet.EthernetLen:]
	if etherType == packet.EtherTypeVLAN {
		m.vlan = binary.BigEndian.Uint16(rest) & 0xfff
		etherType, rest = binary.BigEndian.Uint16(rest[2:]), rest[packet.VLANLen:]
	}
	source := MAC(b[6:12])
	switch etherType {
	case etherTypeARP:
		ok = m.parseARP(rest)
	case packet.EtherTypeIPv6:
		ok = m.parseND(rest, source)
	}
	return m, ok && m.mac.host()
}

// host: the address of one host, neither a group nor none at all.
func (m MAC) host() bool { return m[0]&1 == 0 && m != MAC{} }

// putEthernet writes the header of a frame, with a tag where vlan is not zero, and
// returns the rest of b.
func putEthernet(b []byte, dst, src MAC, vlan, etherType uint16) []byte {
	copy(b, dst[:])
	copy(b[6:], src[:])
	b = b[12:]
	if vlan != 0 {
		binary.BigEndian.PutUint16(b, packet.EtherTypeVLAN)
		binary.BigEndian.PutUint16(b[2:], vlan)
		b = b[packet.VLANLen:]
	}
	binary.BigEndian.PutUint16(b, etherType)
	return b[2:]
}

// An ARP packet for IPv4 over Ethernet (RFC 826):
//
//	0 hardware type 1   2 protocol type 0x0800   4 lengths 6, 4   6 operation
//	8 sender MAC       14 sender IP             18 target MAC    24 target IP
const (
	arpLen      = 28
	arpEthernet = 1<<48 | 0x0800<<32 | 6<<24 | 4<<16 // all before the operation
	arpRequest  = 1
	arpReply    = 2
)

// parseARP fills m from an ARP packet. Requests and replies both give the sender's address.
func (m *message) parseARP(b []byte) bool {
	if len(b) < arpLen {
		return false
	}
	head := binary.BigEndian.Uint64(b)
	op := uint16(head)
	if head&^0xffff != arpEthernet || op != arpRequest && op != arpReply {
		return false
	}
	m.question = op == arpRequest
	m.mac = MAC(b[8:14])
	m.from = netip.AddrFrom4([4]byte(b[14:18]))
	m.target = netip.AddrFrom4([4]byte(b[24:28]))
	m.tells, m.override = true, true
	return true
}

// putARP writes a frame that asks target for its MAC address, or tells target,
// whose address is dst, ours. It returns the frame's length; b has room for it.
func (n *neighbor) putARP(b []byte, op uint16, dst MAC, target netip.Addr) int {
	eth := dst
	if op == arpRequest {
		eth, dst = broadcast, MAC{}
	}
	clear(b[:minFrame])
	p := putEthernet(b, eth, n.mac, n.vlan, etherTypeARP)
	binary.BigEndian.PutUint64(p, arpEthernet|uint64(op))
	from, to := n.source.As4(), target.As4()
	copy(p[8:], n.mac[:])
	copy(p[14:], from[:])
	copy(p[18:], dst[:])
	copy(p[24:], to[:])
	return minFrame
}

var broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

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

// multicastMAC returns where an IPv6 multicast address is on Ethernet (RFC 2464, section 7).
func multicastMAC(a [16]byte) MAC { return MAC{0x33, 0x33, a[12], a[13], a[14], a[15]} }

// icmpChecksum returns the checksum of an ICMPv6 message between two addresses, 0 where it holds a
// right one (RFC 4443, section 2.3).
func icmpChecksum(addresses, icmp []byte) uint16 {
	pseudo := checksum.AddOnes(checksum.Sum(addresses), uint16(len(icmp))+packet.ProtoICMPv6)
	return ^checksum.AddOnes(pseudo, checksum.Sum(icmp))
}

// MAC is an Ethernet address.
type MAC [6]byte
