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

// hopWords is the length of one hop in words: bits 4 to 6 are 8 bytes, all
// others 4 (INT 2.1, section "INT-MD Metadata Header Format").
func hopWords(bitmap uint16) int {
	n := 0
	for bit := range 16 {
		if bitmap&(0x8000>>bit) == 0 {
			continue
		}
		n++
		if bit >= 4 && bit <= 6 {
			n++
		}
	}
	return n
}

// append writes the hop's values in the order of the bits; reserved bits and
// the checksum complement are all ones.
func (h *Hop) append(b []byte, bitmap uint16) []byte {
	for bit := range 16 {
		if bitmap&(0x8000>>bit) == 0 {
			continue
		}
		switch bit {
		case 0:
			b = binary.BigEndian.AppendUint32(b, h.NodeID)
		case 1:
			b = binary.BigEndian.AppendUint32(b, uint32(h.Ingress)<<16|uint32(h.Egress))
		case 2:
			b = binary.BigEndian.AppendUint32(b, h.LatencyNs)
		case 3:
			b = binary.BigEndian.AppendUint32(b, uint32(h.QueueID)<<24|h.QueueOccupancy&0xffffff)
		case 4:
			b = binary.BigEndian.AppendUint64(b, h.IngressTimestamp)
		case 5:
			b = binary.BigEndian.AppendUint64(b, h.EgressTimestamp)
		case 6:
			b = binary.BigEndian.AppendUint64(b, uint64(h.Level2Ingress)<<32|uint64(h.Level2Egress))
		case 7:
			b = binary.BigEndian.AppendUint32(b, h.TxUtilization)
		case 8:
			b = binary.BigEndian.AppendUint32(b, uint32(h.BufferID)<<24|h.BufferOccupancy&0xffffff)
		default:
			b = binary.BigEndian.AppendUint32(b, 0xffffffff)
		}
	}
	return b
}
