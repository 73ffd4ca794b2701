// Seal: writes the GroupHeader in front of the reports of a packet, and closes the packet.

package report

import "encoding/binary"

// GroupHeader stands once in front of all individual reports of a packet.
type GroupHeader struct {
	HwID     uint8  // 6 bits
	Sequence uint32 // 22 bits; 32 in older formats, and in an Identity
	Rounds   uint32 // how often Sequence has wrapped: the upper half of an Identity's
	NodeID   uint32
}

// GroupHeaderLen is the group header's length in bytes.
const GroupHeaderLen = 8

// Seal writes the group header, or its fields where the format has them, closes
// the packet and returns its payload, which is in the buffer that Open got; nil
// where the packet is closed, the buffer has no room for the group header, or a
// format of one report a packet has none.
func (p *Packet) Seal(h GroupHeader) []byte {
	if p.n > len(p.buf) || p.buf == nil || p.format != Format20 && p.reports == 0 {
		*p = Packet{}
		return nil
	}
	b := p.buf[:p.n]
	if p.format != Format20 {
		p.sealOld(h)
		*p = Packet{}
		return b
	}
	binary.BigEndian.PutUint32(b, Version<<28|uint32(h.HwID&0x3f)<<22|h.Sequence&0x3fffff)
	binary.BigEndian.PutUint32(b[4:], h.NodeID)
	if p.identified {
		binary.BigEndian.PutUint64(b[GroupHeaderLen+IdentityReportLen-8:], uint64(h.Rounds)<<32|uint64(h.Sequence))
	}
	*p = Packet{}
	return b
}
