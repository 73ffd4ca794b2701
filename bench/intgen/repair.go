package intgen

import "encoding/binary"

// repair makes the headers in front of the inserted block agree with it.
func (s *Source) repair(b []byte, p *place, block []byte, newUDP bool) {
	n := len(block)
	if s.Marking == ByDSCP {
		setDSCP(b, p, dscp(b, p)&^s.Mask|s.DSCP&s.Mask)
	}
	if newUDP {
		b[p.protoAt] = UDP
	}
	repairIP(b, p, n)
	if newUDP {
		return // the L4 header behind INT is untouched
	}
	port := binary.BigEndian.Uint16(b[p.l4+2:])
	newPort := port
	if s.Marking == ByPort {
		newPort = s.UDPPort
	}
	binary.BigEndian.PutUint16(b[p.l4+2:], newPort)
	length := uint32(p.end - p.l4)
	delta := sum(0, block) + uint32(^port) + uint32(newPort)
	delta += (uint32(^uint16(length)) + length + uint32(n)) // pseudo header
	if p.proto == TCP {
		patch(b[p.l4+16:], delta)
		return
	}
	delta += (uint32(^uint16(length)) + length + uint32(n)) // the UDP header's own length
	binary.BigEndian.PutUint16(b[p.l4+4:], uint16(length)+uint16(n))
	if c := b[p.l4+6:]; c[0]|c[1] != 0 {
		patch(c, delta)
		if c[0]|c[1] == 0 {
			c[0], c[1] = 0xff, 0xff
		}
	}
}

// patch adds delta to a checksum (RFC 1624, equation 3).
func patch(c []byte, delta uint32) {
	s := uint32(^binary.BigEndian.Uint16(c)) + delta>>16 + delta&0xffff
	binary.BigEndian.PutUint16(c, ^fold(s))
}

// repairIP grows the IP length by n and computes the IPv4 checksum anew, which
// serves for packets whose header checksum was right.
func repairIP(b []byte, p *place, n int) {
	h := b[p.ip:]
	if p.v6 {
		binary.BigEndian.PutUint16(h[4:], binary.BigEndian.Uint16(h[4:])+uint16(n))
		return
	}
	old := binary.BigEndian.Uint16(h[2:])
	binary.BigEndian.PutUint16(h[2:], old+uint16(n))
	h[10], h[11] = 0, 0
	binary.BigEndian.PutUint16(h[10:], ^fold(sum(0, b[p.ip:p.ip+int(h[0]&15)*4])))
}

func setDSCP(b []byte, p *place, v uint8) {
	if p.v6 {
		b[p.ip] = b[p.ip]&0xf0 | v>>2
		b[p.ip+1] = b[p.ip+1]&0x3f | v<<6
		return
	}
	b[p.ip+1] = b[p.ip+1]&3 | v<<2
}
