// Insert: chooses by Marking how INT goes into a frame; puts it behind TCP or UDP (by port,
// by DSCP, NPT 2 with a new UDP header), repairs IP and L4 lengths and checksums.

package intgen

import (
	"encoding/binary"
)

// Insert returns frame with the INT of the given hops, the newest first. Lengths, ports and
// checksums are those that a source would leave: a valid checksum stays valid, a wrong one wrong,
// a zero UDP checksum zero.
func (s *Source) Insert(frame []byte, hops []Hop) ([]byte, error) {
	if s.Marking.Foreign() {
		return s.insertForeign(frame, hops)
	}
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

// intoL4 puts INT behind a TCP or UDP header (INT 2.1, section "INT over TCP/UDP").
func (s *Source) intoL4(frame []byte, p *place, hs []header) ([]byte, error) {
	if p.payload == 0 {
		return nil, ErrProto
	}
	at := p.payload
	if s.BeforeOptions && p.proto == TCP {
		at = p.l4 + 20
	}
	var block []byte
	switch s.Marking {
	case ByPort:
		block = s.shimsOfPort(nil, hs, 1, binary.BigEndian.Uint16(frame[p.l4+2:]))
	case ByDSCP:
		block = s.shimL4(nil, &hs[0], 0, uint16(dscp(frame, p))<<2)
	default:
		block = s.shimL4(binary.BigEndian.AppendUint64(nil, s.ProbeMarker), &hs[0], 0, 0)
	}
	out, err := splice(frame, p, at, block)
	if err != nil {
		return nil, err
	}
	switch s.Marking {
	case ByPort:
		binary.BigEndian.PutUint16(out[p.l4+2:], s.UDPPort)
	case ByDSCP:
		setDSCP(out, p, dscp(out, p)&^s.Mask|s.DSCP&s.Mask)
	}
	repairIP(frame, out, p, len(block))
	repairL4(frame, out, p, at, block)
	return out, nil
}

// shimsOfPort appends shims of INT's port: all but the last say with NPT 1 and that
// port that INT follows again.
func (s *Source) shimsOfPort(b []byte, hs []header, npt uint32, low uint16) []byte {
	last := len(hs) - 1
	for i := range hs[:last] {
		b = s.shimL4(b, &hs[i], 1, s.UDPPort)
	}
	return s.shimL4(b, &hs[last], npt, low)
}

// shimL4 appends the shim for TCP/UDP and the header behind it. In INT 1.0, section
// 4.6.1, it is Type 8b, Reserved 8b, Length 8b with the shim in it, DSCP 6b, R 2b.
func (s *Source) shimL4(b []byte, h *header, npt uint32, low uint16) []byte {
	shim := uint32(h.typ)<<28 | npt<<26 | uint32(h.words())<<16 | uint32(low)
	if s.Format == Format1 {
		shim = uint32(h.typ)<<24 | uint32(h.words()+1)<<8 | uint32(low)
	}
	return append(binary.BigEndian.AppendUint32(b, shim), h.body...)
}

// behindNewUDP puts a UDP header, which says NPT 2, and INT in front of the L4
// header.
func (s *Source) behindNewUDP(frame []byte, p *place, hs []header) ([]byte, error) {
	if s.Format != Format2 {
		return nil, ErrFormat
	}
	shims := s.shimsOfPort(nil, hs, 2, uint16(p.proto))
	block := append(s.newUDP(frame, p, 8+len(shims)+p.end-p.l4), shims...)
	out, err := splice(frame, p, p.l4, block)
	if err != nil {
		return nil, err
	}
	out[p.protoAt] = UDP
	repairIP(frame, out, p, len(block))
	return out, nil
}

// newUDP returns the header of NPT 2: entropy in the source port, checksum zero.
func (s *Source) newUDP(frame []byte, p *place, length int) []byte {
	entropy := fold(sum(sum(0, frame[p.ip+12:p.ip+20]), frame[p.l4:min(p.l4+4, p.end)]))
	b := binary.BigEndian.AppendUint16(nil, 0xc000|entropy&0x3fff)
	b = binary.BigEndian.AppendUint16(b, s.UDPPort)
	b = binary.BigEndian.AppendUint16(b, uint16(length))
	return append(b, 0, 0)
}
