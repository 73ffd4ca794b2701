// Hop: the values that one node writes, in the order of the bits of INT 2.1.

package intgen

import "encoding/binary"

// Hop is what one node writes. Values that the bitmap does not ask for are left
// out.
type Hop struct {
	NodeID                            uint32
	Ingress, Egress                   uint16
	LatencyNs                         uint32
	QueueID                           uint8
	QueueOccupancy                    uint32
	IngressTimestamp, EgressTimestamp uint64
	Level2Ingress, Level2Egress       uint32
	TxUtilization                     uint32
	BufferID                          uint8
	BufferOccupancy                   uint32
}

// DefaultBitmap asks for node id, level-1 interfaces, hop latency, queue and tx
// utilization: 20 bytes a hop.
const DefaultBitmap = 0xf100

// append writes the hop's values in the order of the bits; reserved bits and
// the checksum complement are all ones. Domain specific metadata, so many bytes of
// it, stands in front of the complement: its words count up from NodeID + 1.
func (h *Hop) append(b []byte, bitmap uint16, domain int) []byte {
	for i := range 15 {
		if bitmap&(0x8000>>i) != 0 {
			b = h.appendValue(b, i)
		}
	}
	for i := range domain / 4 {
		b = binary.BigEndian.AppendUint32(b, h.NodeID+1+uint32(i))
	}
	if bitmap&1 != 0 {
		b = h.appendValue(b, 15)
	}
	return b
}

// appendValue writes what one bit of the bitmap asks for (INT 2.1, section "INT-MD
// Metadata Header Format").
func (h *Hop) appendValue(b []byte, bit int) []byte {
	switch bit {
	case 0:
		return binary.BigEndian.AppendUint32(b, h.NodeID)
	case 1:
		return binary.BigEndian.AppendUint32(b, uint32(h.Ingress)<<16|uint32(h.Egress))
	case 2:
		return binary.BigEndian.AppendUint32(b, h.LatencyNs)
	case 3:
		return binary.BigEndian.AppendUint32(b, uint32(h.QueueID)<<24|h.QueueOccupancy&0xffffff)
	case 4:
		return binary.BigEndian.AppendUint64(b, h.IngressTimestamp)
	case 5:
		return binary.BigEndian.AppendUint64(b, h.EgressTimestamp)
	case 6:
		return binary.BigEndian.AppendUint64(b, uint64(h.Level2Ingress)<<32|uint64(h.Level2Egress))
	case 7:
		return binary.BigEndian.AppendUint32(b, h.TxUtilization)
	case 8:
		return binary.BigEndian.AppendUint32(b, uint32(h.BufferID)<<24|h.BufferOccupancy&0xffffff)
	}
	return binary.BigEndian.AppendUint32(b, 0xffffffff)
}
