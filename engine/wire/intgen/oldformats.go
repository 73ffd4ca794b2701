// Builds the MD headers and hops of INT 1.0 and June 2016.

package intgen

import (
	"encoding/binary"
	"math/bits"
)

// md1 returns the hop-by-hop header of INT 1.0, section 4.7: Ver 4b, Rep 2b, C, E, M, Reserved 10b,
// Hop ML 5b, Remaining Hop Count 8b.
func (s *Source) md1(hops []Hop) []byte {
	head := uint32(1)<<28 | uint32(s.Reserved&0x3ff)<<13 | uint32(s.hopWords())<<8 | uint32(uint8(s.MaxHops-len(hops)))
	head |= bit(s.Discard, 25) | bit(s.HopExceeded, 24) | bit(s.MTUExceeded, 23)
	b := binary.BigEndian.AppendUint32(nil, head)
	b = binary.BigEndian.AppendUint32(b, uint32(s.Bitmap)<<16)
	for i := range hops {
		b = hops[i].append1(b, s.Bitmap)
	}
	return b
}

// append1 writes the values of INT 1.0: timestamps have 32 bits, and bit 8 and on
// are reserved or the checksum complement.
func (h *Hop) append1(b []byte, bitmap uint16) []byte {
	for i := range 16 {
		if bitmap&(0x8000>>i) == 0 {
			continue
		}
		switch i {
		case 4:
			b = binary.BigEndian.AppendUint32(b, uint32(h.IngressTimestamp))
		case 5:
			b = binary.BigEndian.AppendUint32(b, uint32(h.EgressTimestamp))
		case 8:
			b = binary.BigEndian.AppendUint32(b, 0xffffffff)
		default:
			b = h.appendValue(b, i)
		}
	}
	return b
}

// md2016 returns the hop-by-hop header of June 2016, section 5.3.3: Ver 2b, Rep 2b, C, E, R 5b,
// Instruction Count 5b, Max Hop Count 8b, Total Hop Count 8b.
func (s *Source) md2016(hops []Hop) []byte {
	head := uint32(s.Reserved&0x1f)<<21 | uint32(s.hopWords())<<16 | uint32(uint8(s.MaxHops))<<8 | uint32(uint8(len(hops)))
	head |= bit(s.Discard, 27) | bit(s.HopExceeded, 26)
	b := binary.BigEndian.AppendUint32(nil, head)
	b = binary.BigEndian.AppendUint32(b, uint32(s.Bitmap)<<16)
	for i := range hops {
		b = hops[i].append2016(b, s.Bitmap)
	}
	if len(b) > 8 {
		b[len(b)-4] |= 0x80 // bottom of stack
	}
	return b
}

// append2016 writes values of 31 bits. Queue congestion status (bit 6), which Hop
// does not have, and what is reserved are "invalid".
func (h *Hop) append2016(b []byte, bitmap uint16) []byte {
	values := [8]uint32{
		h.NodeID, uint32(h.Ingress), h.LatencyNs, h.QueueOccupancy,
		uint32(h.IngressTimestamp), uint32(h.Egress), 0x7fffffff, h.TxUtilization,
	}
	for i := range 16 {
		switch {
		case bitmap&(0x8000>>i) == 0:
		case i < len(values):
			b = binary.BigEndian.AppendUint32(b, values[i]&0x7fffffff)
		default:
			b = binary.BigEndian.AppendUint32(b, 0x7fffffff)
		}
	}
	return b
}

// words returns the length of one hop's values. Eight bytes have, in 2.x, bits 4 to 6 (INT 2.1,
// section "INT-MD Metadata Header Format"), in 1.0 bit 6 (section 4.7), in 2016 none.
func (f Format) words(bitmap uint16) int {
	long := [...]uint16{Format2: 0x0e00, Format1: 0x0200, Format2016: 0}[f]
	return bits.OnesCount16(bitmap) + bits.OnesCount16(bitmap&long)
}
