// Builds MD, MX and Destination headers of INT 2.1 with the stack of hops; Hop: the values
// that one node writes, in the order of the bits.

package intgen

import (
	"encoding/binary"
)

// header is what one shim or Geneve option holds: an MD, MX or Destination header
// and what follows it.
type header struct {
	typ  uint8
	body []byte
}

func (h *header) words() int { return len(h.body) / 4 }

// headers returns the INT headers of a packet, none of them longer than max words.
func (s *Source) headers(hops []Hop, max int) ([]header, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var hs []header
	switch {
	case s.Type == TypeDestination:
		hs = append(hs, s.destination())
	case s.Type == TypeMX:
		hs = append(hs, header{TypeMX, s.mx()})
	case s.hopWords() > 31:
		return nil, ErrLength
	default:
		hs = append(hs, header{TypeMD, s.md(hops)})
	}
	if s.ThenDestination {
		hs = append(hs, s.destination())
	}
	for i := range hs {
		if hs[i].words() > max {
			return nil, ErrLength
		}
	}
	return hs, nil
}

// destination is opaque: INT 2.1 gives it no format. Each word tells its index.
func (s *Source) destination() header {
	b := make([]byte, 0, 4*s.DestinationWords)
	for i := range s.DestinationWords {
		b = binary.BigEndian.AppendUint32(b, 0xde570000|uint32(i))
	}
	return header{TypeDestination, b}
}

// hopWords is Hop ML, or Instruction Count of 2016.
func (s *Source) hopWords() int {
	return s.Format.words(s.Bitmap) + s.DomainPerHop/4
}

// md returns the MD header, called hop-by-hop before 2.0, with its stack.
func (s *Source) md(hops []Hop) []byte {
	switch s.Format {
	case Format1:
		return s.md1(hops)
	case Format2016:
		return s.md2016(hops)
	}
	head := uint32(2)<<28 | uint32(s.Reserved&0xfff)<<13 | uint32(s.hopWords())<<8 | uint32(uint8(s.MaxHops-len(hops)))
	head |= bit(s.Discard, 27) | bit(s.HopExceeded, 26) | bit(s.MTUExceeded, 25)
	b := s.domain(binary.BigEndian.AppendUint32(make([]byte, 0, 12+len(hops)*4*s.hopWords()), head))
	for i := range hops {
		b = hops[i].append(b, s.Bitmap, s.DomainPerHop)
	}
	return append(b, s.SourceOnly...)
}

// mx returns the INT-MX header (INT 2.1, section "INT-MX Header Format").
func (s *Source) mx() []byte {
	head := uint32(2)<<28 | bit(s.Discard, 27) | uint32(s.Reserved&0xfff)
	return append(s.domain(binary.BigEndian.AppendUint32(nil, head)), s.SourceOnly...)
}

// domain appends the second and third word of MD and MX headers.
func (s *Source) domain(b []byte) []byte {
	for _, v := range [...]uint16{s.Bitmap, s.DomainID, s.DSInstruction, s.DSFlags} {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

// bit is 1<<at if on.
func bit(on bool, at int) uint32 {
	if on {
		return 1 << at
	}
	return 0
}

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
