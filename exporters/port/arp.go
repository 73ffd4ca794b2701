// ARP for IPv4 (RFC 826): parse, request, reply.

package port

import (
	"encoding/binary"
	"net/netip"
)

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
