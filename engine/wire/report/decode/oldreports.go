// The reports of versions 1.0 and 0.5, one to a packet.

package decode

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
)

// read10 reads a packet of 1.0, whose fixed header ReadHeader has checked.
//
//	| Ver 4 | Length 4 | NProt 3 | RepMdBits 6 | Rsvd 6 | D Q F | hw_id 6 |
//	| Switch id | Sequence Number | Ingress Timestamp | metadata ... | packet ...
func (p *Reports) read10(r *Report) {
	b := p.packet
	first := binary.BigEndian.Uint32(b)
	r.Dropped, r.Congested, r.Tracked = first&0x100 != 0, first&0x80 != 0, first&0x40 != 0
	r.Length, r.NextProtocol, r.RepMdBits = uint8(first>>24&0xf), uint8(first>>21&0x7), uint16(first>>15&0x3f)
	r.Reserved = first>>9&0x3f != 0 || r.NextProtocol > 2 || p.Layout2018 && r.RepMdBits&0x03 != 0
	length := int(r.Length) * 4
	switch {
	case length > len(b):
		r.Problem = ProblemLength
	case length != header10Len+4*bits.OnesCount16(r.RepMdBits), r.NextProtocol > 2:
		r.Problem = ProblemHeader
	}
	metadata := b[header10Len:min(length, len(b))]
	r.Own.IngressTime = stamp32(b[12:])
	for bit := uint16(0x20); bit != 0 && len(metadata) >= 4; bit >>= 1 {
		if r.RepMdBits&bit != 0 {
			if p.Layout2018 {
				r.Own.word2018(bit, metadata)
			} else {
				r.Own.word10(bit, metadata)
			}
			metadata = metadata[4:]
		}
	}
	if r.Inner = b[min(length, len(b)):]; r.NextProtocol <= 2 {
		r.InType = report.Ethernet + report.InType(r.NextProtocol)
	}
}

// word10 reads the value of one of the six RepMdBits of 1.0 from the start of b.
func (m *Metadata) word10(bit uint16, b []byte) {
	v := binary.BigEndian.Uint32(b)
	switch bit {
	case 0x20:
		m.Ingress, m.Egress = inthdr.Interfaces(v)
	case 0x10:
		m.Latency = v
	case 0x08:
		m.Queue, m.Occupancy = inthdr.Queue(v)
	case 0x04:
		m.EgressTime = stamp32(b)
	case 0x02:
		m.drop(v)
	case 0x01:
		m.TxUtilization = v
	}
}

// word2018 is word10 for the proposal of January 2018, which has four bits.
func (m *Metadata) word2018(bit uint16, b []byte) {
	as10 := [...]uint16{0x20: 0x20, 0x10: 0x08, 0x08: 0x04, 0x04: 0x02}
	if int(bit) < len(as10) && as10[bit] != 0 {
		m.word10(as10[bit], b)
	}
}

// stamp32 reads a timestamp of 32 bits.
func stamp32(b []byte) uint64 {
	if v := binary.BigEndian.Uint32(b); v != inthdr.Unknown {
		return uint64(v)
	}
	return inthdr.UnknownTime
}

// read05 reads a packet of 0.5, whose headers ReadHeader has checked.
//
//	| Ver 4 | NProto 4 | D Q F | Rsvd 15 | hw_id 6 |
//	| Sequence Number | Ingress Timestamp | drop or switch local header | frame ...
func (p *Reports) read05(r *Report) {
	b := p.packet
	first := binary.BigEndian.Uint32(b)
	r.Dropped, r.Congested, r.Tracked = first&(1<<23) != 0, first&(1<<22) != 0, first&(1<<21) != 0
	r.NextProtocol, r.Reserved = uint8(first>>24&0xf), first>>6&0x7fff != 0
	r.InType, r.Inner = report.Ethernet, b[header05Len+localLen[r.NextProtocol]:]
	m := &r.Own
	m.IngressTime = stamp32(b[8:])
	if r.NextProtocol == nextEthernet {
		return
	}
	local := b[header05Len:]
	m.Ingress, m.Egress = inthdr.Interfaces(binary.BigEndian.Uint32(local[4:]))
	v := binary.BigEndian.Uint32(local[8:])
	if r.NextProtocol == nextDrop {
		m.drop(v)
		return
	}
	m.Queue, m.Occupancy = inthdr.Queue(v)
	if m.EgressTime = stamp32(local[12:]); m.IngressTime != inthdr.UnknownTime && m.EgressTime != inthdr.UnknownTime {
		m.Latency = uint32(m.EgressTime - m.IngressTime) // both may wrap
	}
}
