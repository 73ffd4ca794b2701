// Builds MD, MX and Destination headers of INT 2.1 with the stack of hops.

package intgen

import "encoding/binary"

// header is what one shim or Geneve option holds: an MD, MX or Destination header
// and what follows it.
type header struct {
	typ  uint8
	body []byte
}

func (h *header) words() int { return len(h.body) / 4 }

// headers are the INT headers of a packet, none of them longer than max words.
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

// md is the MD header, called hop-by-hop before 2.0, with its stack.
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

// mx is the INT-MX header (INT 2.1, section "INT-MX Header Format").
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
