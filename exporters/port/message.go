// MAC, and what ARP and Neighbor Discovery messages have in common; Ethernet headers of both.

package port

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/packet"
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
