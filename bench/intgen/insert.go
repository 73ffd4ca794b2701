package intgen

import (
	"encoding/binary"
	"errors"
)

// Marking is how a packet says that it carries INT (INT 2.1, section "INT over
// TCP/UDP").
type Marking uint8

const (
	ByPort        Marking = iota // UDP: port in the shim (NPT 1); anything else: a new UDP header (NPT 2)
	ByNewUDP                     // always a new UDP header (NPT 2)
	ByDSCP                       // DSCP value or bits, original in the shim
	ByProbeMarker                // 64 bits in front of the shim
)

// Source is an INT source and the hops behind it.
type Source struct {
	Marking       Marking
	UDPPort       uint16
	DSCP, Mask    uint8
	ProbeMarker   uint64
	BeforeOptions bool // INT stands before the TCP options
	Bitmap        uint16
	MaxHops       int // Remaining Hop Count at the source
	Discard       bool
}

// Errors of Insert: the packet stays as it is.
var (
	ErrNotIP  = errors.New("intgen: not an IPv4 or IPv6 packet with a header this source knows")
	ErrProto  = errors.New("intgen: this marking needs TCP or UDP")
	ErrLength = errors.New("intgen: the packet would be too long")
)

// place is where the headers of a frame are.
type place struct {
	ip, l4, payload, end int
	protoAt              int
	v6                   bool
	proto                uint8
}

// Insert returns frame with INT-MD of the given hops, the first of which is the
// newest. Lengths, ports and checksums are those that a source would leave: a
// valid checksum stays valid, a zero UDP checksum zero.
func (s *Source) Insert(frame []byte, hops []Hop) ([]byte, error) {
	p, err := find(frame)
	if err != nil {
		return nil, err
	}
	newUDP := s.Marking == ByNewUDP || s.Marking == ByPort && p.proto != UDP
	if !newUDP && p.payload == 0 {
		return nil, ErrProto
	}
	at := p.payload
	if newUDP {
		at = p.l4
	} else if s.BeforeOptions && p.proto == TCP {
		at = p.l4 + 20
	}
	block := s.block(frame, &p, hops, newUDP)
	if p.end-p.ip+len(block) > 65535 {
		return nil, ErrLength
	}
	out := make([]byte, 0, len(frame)+len(block))
	out = append(append(append(out, frame[:at]...), block...), frame[at:]...)
	s.repair(out, &p, block, newUDP)
	return out, nil
}

// find walks Ethernet, VLAN tags, IP and the L4 header of a well-formed frame.
func find(b []byte) (p place, err error) {
	at := 12
	for at+4 <= len(b) && (binary.BigEndian.Uint16(b[at:]) == 0x8100 || binary.BigEndian.Uint16(b[at:]) == 0x88a8) {
		at += 4
	}
	if at+2+20 > len(b) {
		return p, ErrNotIP
	}
	p.ip = at + 2
	h := b[p.ip:]
	switch {
	case binary.BigEndian.Uint16(b[at:]) == 0x0800 && h[0]>>4 == 4:
		if binary.BigEndian.Uint16(h[6:])&0x3fff != 0 {
			return p, ErrNotIP // a fragment
		}
		p.l4, p.protoAt = p.ip+int(h[0]&15)*4, p.ip+9
		p.end = p.ip + int(binary.BigEndian.Uint16(h[2:]))
	case binary.BigEndian.Uint16(b[at:]) == 0x86dd && h[0]>>4 == 6 && len(h) >= 40:
		p.v6, p.l4, p.protoAt = true, p.ip+40, p.ip+6
		p.end = p.l4 + int(binary.BigEndian.Uint16(h[4:]))
		for isOption(b[p.protoAt]) && p.l4+8 <= len(b) {
			next := p.l4
			p.l4 += 8 + int(b[next+1])*8
			p.protoAt = next
		}
	default:
		return p, ErrNotIP
	}
	if p.end > len(b) || p.l4 > p.end {
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

// isOption: hop-by-hop, routing, destination options.
func isOption(next uint8) bool { return next == 0 || next == 43 || next == 60 }

// block builds the bytes that go in: probe marker or UDP header, shim, MD
// header, stack.
func (s *Source) block(frame []byte, p *place, hops []Hop, newUDP bool) []byte {
	bitmap := s.Bitmap
	words := 3 + len(hops)*hopWords(bitmap)
	var b []byte
	if newUDP {
		b = s.newUDP(frame, p, 8+4+words*4+p.end-p.l4)
	}
	if s.Marking == ByProbeMarker {
		b = binary.BigEndian.AppendUint64(b, s.ProbeMarker)
	}
	shim := uint32(1)<<28 | uint32(words)<<16 // Type 1: INT-MD
	switch {
	case newUDP:
		shim |= 2<<26 | uint32(p.proto)
	case s.Marking == ByPort:
		shim |= 1<<26 | uint32(binary.BigEndian.Uint16(frame[p.l4+2:]))
	case s.Marking == ByDSCP:
		shim |= uint32(dscp(frame, p)) << 2
	}
	b = binary.BigEndian.AppendUint32(b, shim)
	head := uint32(2)<<28 | uint32(hopWords(bitmap))<<8 | uint32(uint8(s.MaxHops-len(hops)))
	if s.Discard {
		head |= 1 << 27
	}
	b = binary.BigEndian.AppendUint32(b, head)
	b = binary.BigEndian.AppendUint16(b, bitmap)
	b = append(b, 0, 0, 0, 0, 0, 0) // Domain Specific ID, DS Instruction, DS Flags
	for i := range hops {
		b = hops[i].append(b, bitmap)
	}
	return b
}

// newUDP is the header of NPT 2: entropy in the source port, checksum zero.
func (s *Source) newUDP(frame []byte, p *place, length int) []byte {
	entropy := fold(sum(sum(0, frame[p.ip+12:p.ip+20]), frame[p.l4:min(p.l4+4, p.end)]))
	b := binary.BigEndian.AppendUint16(nil, 0xc000|entropy&0x3fff)
	b = binary.BigEndian.AppendUint16(b, s.UDPPort)
	b = binary.BigEndian.AppendUint16(b, uint16(length))
	return append(b, 0, 0)
}

func dscp(b []byte, p *place) uint8 {
	if p.v6 {
		return (b[p.ip]<<4 | b[p.ip+1]>>4) >> 2
	}
	return b[p.ip+1] >> 2
}
