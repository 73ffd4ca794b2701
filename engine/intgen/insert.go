// Insert: chooses by Marking how INT goes into a frame, and repairs IP and L4 lengths and
// checksums.

package intgen

import "encoding/binary"

// Insert returns frame with the INT of the given hops, the first of which is the
// newest. Lengths, ports and checksums are those that a source would leave: a
// valid checksum stays valid, a wrong one wrong, a zero UDP checksum zero.
func (s *Source) Insert(frame []byte, hops []Hop) ([]byte, error) {
	max := 255 // 8 bits of Length, which before 2.0 counts the shim
	if s.Format != Format2 {
		max = 254
	}
	if s.Marking == ByGeneve {
		max = 31
	}
	hs, err := s.headers(hops, max)
	if err != nil {
		return nil, err
	}
	if s.Marking == ByGRE && s.GREInserted && s.GREEthernet {
		return s.bridgeGRE(frame, hs)
	}
	p, err := find(frame)
	if err != nil {
		return nil, err
	}
	switch s.Marking {
	case ByGRE:
		if s.GREInserted {
			return s.newGRE(frame, &p, hs)
		}
		return s.intoGRE(frame, &p, hs)
	case ByVXLANGPE:
		return s.intoVXLAN(frame, &p, hs)
	case ByGeneve:
		return s.intoGeneve(frame, &p, hs)
	}
	if s.Marking == ByNewUDP || s.Marking == ByPort && p.proto != UDP {
		return s.behindNewUDP(frame, &p, hs)
	}
	return s.intoL4(frame, &p, hs)
}

// splice inserts block at frame[at:]; all of frame[at:] lies in the IP packet.
func splice(frame []byte, p *place, at int, block []byte) ([]byte, error) {
	if p.end-p.ip+len(block) > 65535 {
		return nil, ErrLength
	}
	out := make([]byte, 0, len(frame)+len(block))
	return append(append(append(out, frame[:at]...), block...), frame[at:]...), nil
}

// repairIP makes the IP header agree with n bytes more and with whatever else
// changed in it.
func repairIP(frame, out []byte, p *place, n int) {
	if p.v6 {
		length := out[p.ip+4:]
		binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)+uint16(n))
		return
	}
	length := out[p.ip+2:]
	binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)+uint16(n))
	end := p.ip + int(out[p.ip]&15)*4
	patch(out[p.ip+10:], change(frame[p.ip:end], out[p.ip:end]))
}

// repairL4 makes the length and checksum of TCP or UDP agree with block at out[at:]
// and with whatever changed between the L4 header and there.
func repairL4(frame, out []byte, p *place, at int, block []byte) {
	n, length := len(block), p.end-p.l4
	if p.proto == UDP {
		field := out[p.l4+4:]
		binary.BigEndian.PutUint16(field, binary.BigEndian.Uint16(field)+uint16(n))
	}
	delta := change(frame[p.l4:at], out[p.l4:at]) + sum(0, block) + grow(length, n)
	if p.proto == TCP {
		patch(out[p.l4+16:], delta)
		return
	}
	patchUDP(out[p.l4+6:], delta)
}
