// find: finds the headers of a frame that INT is to be inserted into (place), without the
// engine's parser.

package intgen

import "encoding/binary"

// place is where the headers of a frame are.
type place struct {
	l3, ip, l4, payload, end int // l3: behind the EtherType; payload: 0 without TCP or UDP
	protoAt                  int
	v6                       bool
	proto                    uint8
}

// find walks Ethernet, VLAN tags, MPLS labels, IP and the L4 header of a
// well-formed frame.
func find(b []byte) (p place, err error) {
	at := 12
	for at+4 <= len(b) && (binary.BigEndian.Uint16(b[at:]) == etherVLAN || binary.BigEndian.Uint16(b[at:]) == etherQinQ) {
		at += 4
	}
	if at+2+20 > len(b) {
		return p, ErrNotIP
	}
	p.l3 = at + 2
	p.ip = p.l3
	v6 := false
	switch binary.BigEndian.Uint16(b[at:]) {
	case etherIPv4:
	case etherIPv6:
		v6 = true
	case etherMPLS:
		for p.ip+24 <= len(b) && b[p.ip+2]&1 == 0 {
			p.ip += 4
		}
		p.ip += 4
		v6 = p.ip < len(b) && b[p.ip]>>4 == 6
	default:
		return p, ErrNotIP
	}
	if !p.network(b, v6) || p.end > len(b) || p.l4 > p.end {
		return p, ErrNotIP
	}
	p.proto = b[p.protoAt]
	switch {
	case p.proto == UDP && p.l4+8 <= p.end:
		p.payload = p.l4 + 8
	case p.proto == TCP && p.l4+20 <= p.end:
		p.payload = p.l4 + int(b[p.l4+12]>>4)*4
	}
	if p.payload > p.end {
		return p, ErrNotIP
	}
	return p, nil
}

// network walks the IP header at p.ip, with options or extension headers; false
// for fragments and for what is not IP of that version.
func (p *place) network(b []byte, v6 bool) bool {
	if p.ip+20 > len(b) {
		return false
	}
	h := b[p.ip:]
	if !v6 {
		p.l4, p.protoAt = p.ip+int(h[0]&15)*4, p.ip+9
		p.end = p.ip + int(binary.BigEndian.Uint16(h[2:]))
		return h[0]>>4 == 4 && h[0]&15 >= 5 && binary.BigEndian.Uint16(h[6:])&0x3fff == 0
	}
	if h[0]>>4 != 6 || len(h) < 40 {
		return false
	}
	p.v6, p.l4, p.protoAt = true, p.ip+40, p.ip+6
	p.end = p.l4 + int(binary.BigEndian.Uint16(h[4:]))
	for isOption(b[p.protoAt]) && p.l4+8 <= len(b) {
		next := p.l4
		p.l4 += 8 + int(b[next+1])*8
		p.protoAt = next
	}
	return true
}

// isOption: hop-by-hop, routing, destination options.
func isOption(next uint8) bool { return next == HopByHop || next == 43 || next == DestinationOptions }

func dscp(b []byte, p *place) uint8 {
	if p.v6 {
		return (b[p.ip]<<4 | b[p.ip+1]>>4) >> 2
	}
	return b[p.ip+1] >> 2
}

func setDSCP(b []byte, p *place, v uint8) {
	if p.v6 {
		b[p.ip] = b[p.ip]&0xf0 | v>>2
		b[p.ip+1] = b[p.ip+1]&0x3f | v<<6
		return
	}
	b[p.ip+1] = b[p.ip+1]&3 | v<<2
}
