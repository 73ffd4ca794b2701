// Metadata of the reporting node: puts ports, latency, queue, timestamps and drop reason in
// the order of RepMdBits; DropReasons, the names of drop reason codes.

package report

import (
	"encoding/binary"
)

// RepMdBits of Telemetry Report 2.0, section "Individual Report Main Contents
// for RepType 1"; bit 0, reserved, is the most significant.
const (
	MdInterfaces       = 1 << 14
	MdHopLatency       = 1 << 13
	MdQueue            = 1 << 12
	MdIngressTimestamp = 1 << 11
	MdEgressTimestamp  = 1 << 10
	MdLevel2Interfaces = 1 << 9
	MdTxUtilization    = 1 << 8
	MdBuffer           = 1 << 7
	MdDropReason       = 1 << 0
)

// Metadata is the reporting node's own, beside what the packet carries.
type Metadata struct {
	IngressPort, EgressPort           uint16
	HopLatencyNs                      uint32
	QueueID                           uint8
	QueueOccupancy                    uint32 // 24 bits
	IngressTimestamp, EgressTimestamp uint64 // Unix nanoseconds
	Level2Ingress, Level2Egress       uint32
	TxUtilization                     uint32
	BufferID                          uint8
	BufferOccupancy                   uint32 // 24 bits
	DropReason                        uint8
}

// Put writes the values that repMdBits ask for to b, in the order of the bits,
// and returns their length. Reserved bits are not provided for: the caller
// leaves them clear. b has room for 48 bytes.
func (m *Metadata) Put(b []byte, repMdBits uint16) int {
	n := 0
	put32 := func(bit uint16, v uint32) {
		if repMdBits&bit != 0 {
			binary.BigEndian.PutUint32(b[n:], v)
			n += 4
		}
	}
	put64 := func(bit uint16, v uint64) {
		if repMdBits&bit != 0 {
			binary.BigEndian.PutUint64(b[n:], v)
			n += 8
		}
	}
	put32(MdInterfaces, m.interfaces())
	put32(MdHopLatency, m.HopLatencyNs)
	put32(MdQueue, m.queue())
	put64(MdIngressTimestamp, m.IngressTimestamp)
	put64(MdEgressTimestamp, m.EgressTimestamp)
	put64(MdLevel2Interfaces, uint64(m.Level2Ingress)<<32|uint64(m.Level2Egress))
	put32(MdTxUtilization, m.TxUtilization)
	put32(MdBuffer, uint32(m.BufferID)<<24|m.BufferOccupancy&0xffffff)
	put32(MdDropReason, m.drop())
	return n
}

func (m *Metadata) interfaces() uint32 { return uint32(m.IngressPort)<<16 | uint32(m.EgressPort) }
func (m *Metadata) queue() uint32      { return uint32(m.QueueID)<<24 | m.QueueOccupancy&0xffffff }
func (m *Metadata) drop() uint32       { return uint32(m.QueueID)<<24 | uint32(m.DropReason)<<16 }

// unknown is a word that the node could not provide.
const unknown = 1<<32 - 1

// shortTime returns a timestamp of 1.0 and 0.5, the lower 32 bits of nanoseconds. It is never all
// ones, which would say that there is none: it is then 1 ns less.
func shortTime(t uint64) uint32 { return min(uint32(t), unknown-1) }

// DropReasons names the drop reasons that all versions of the specification give
// as their example of an enumeration: p4lang/switch,
// p4src/includes/drop_reason_codes.h. Codes without a name there are the node's
// own, as any may be.
var DropReasons = [256]string{
	0: "unknown",

	10: "outer_src_mac_zero",
	11: "outer_src_mac_multicast",
	12: "outer_dst_mac_zero",
	13: "outer_ethernet_miss",
	14: "src_mac_zero",
	15: "src_mac_multicast",
	16: "dst_mac_zero",

	25: "outer_ip_version_invalid",
	26: "outer_ip_ttl_zero",
	27: "outer_ip_src_multicast",
	28: "outer_ip_src_loopback",
	29: "outer_ip_miss",
	30: "ip_version_invalid",
	31: "ip_ttl_zero",
	32: "ip_src_multicast",
	33: "ip_src_loopback",

	40: "port_vlan_mapping_miss",
	41: "stp_state_learning",
	42: "stp_state_blocking",
	43: "same_ifindex",
	44: "multicast_snooping_enabled",

	50: "mtu_check_fail",
	51: "traffic_manager",

	60: "acl_deny",
	61: "racl_deny",
	62: "urpf_check_fail",
	63: "ipsg_miss",
	64: "ifindex",
}
