// Parses IPv4 and IPv6 headers, walks IPv6 extension headers, skips MPLS label stacks in
// front of IP; for Parse and for what tunnels enclose.

package packet

import (
	"encoding/binary"
)

// ECN codepoints (RFC 3168).
const (
	NotECT = 0
	CE     = 3
)

// ECN is the field of a frame's outermost IP header, which queues on its way mark, behind Ethernet and VLAN tags. NotECT where
// there is none.
func ECN(frame []byte) uint8 {
	at := 12
	for range maxVLANs + 1 {
		if len(frame) < at+4 {
			return NotECT
		}
		etherType, next := binary.BigEndian.Uint16(frame[at:]), binary.BigEndian.Uint16(frame[at+2:])
		switch {
		case etherType == EtherTypeIPv4:
			return uint8(next) & 3
		case etherType == EtherTypeIPv6:
			return uint8(next>>4) & 3
		case !IsVLAN(etherType):
			return NotECT
		}
		at += 4
	}
	return NotECT
}

// IPv6 extension headers (RFC 8200, section 4, and the IANA registry of
// extension header types).
const (
	extHopByHop    = 0
	extRouting     = 43
	extFragment    = 44
	extAH          = 51
	extDestination = 60
	extMobility    = 135
	extHIP         = 139
	extShim6       = 140
)

// maxExtensions bounds the walk; RFC 8200 knows six useful ones in a packet. A packet
// with more is TooDeep.
const maxExtensions = 15

// parseIPv6 reads the header of RFC 8200 and walks its extensions. A payload
// length of zero (a jumbogram, RFC 2675) is not read further than the header.
func parseIPv6(b []byte, pktLen int, l *Layers) Status {
	at := int(l.L3)
	if len(b) < at+40 {
		return short(pktLen, at+40)
	}
	h := b[at:]
	_ = h[39]
	end := at + 40 + int(binary.BigEndian.Uint16(h[4:]))
	if h[0]>>4 != 6 || end > pktLen {
		return Truncated
	}
	l.IPVersion, l.DSCP, l.Proto = 6, (h[0]<<4|h[1]>>4)>>2, h[6]
	l.ProtoAt = uint16(at + 6)
	l.L4 = uint16(at + 40)
	l.End = uint16(end)
	for range maxExtensions {
		if !isExtension(l.Proto) {
			break
		}
		if s := parseExtension(b, l); s != OK {
			return s
		}
		if l.Fragment == LaterFragment {
			return OK
		}
	}
	if isExtension(l.Proto) {
		return TooDeep
	}
	return parseL4(b, l)
}

func isExtension(proto uint8) bool {
	switch proto {
	case extHopByHop, extRouting, extFragment, extAH, extDestination, extMobility, extHIP, extShim6:
		return true
	}
	return false
}

// parseExtension steps over the extension header at l.L4.
func parseExtension(b []byte, l *Layers) Status {
	at, end := int(l.L4), int(l.End)
	if at+8 > end {
		return Truncated
	}
	if len(b) < at+8 {
		return NeedMore
	}
	size := 8 + int(b[at+1])*8
	switch l.Proto {
	case extFragment:
		size = 8
		if frag := binary.BigEndian.Uint16(b[at+2:]); frag&0xfff9 != 0 {
			l.Fragment = FirstFragment
			if frag>>3 != 0 {
				l.Fragment = LaterFragment
			}
		}
	case extAH:
		size = 8 + int(b[at+1])*4 // RFC 4302: length in words, minus two
	}
	if at+size > end {
		return Truncated
	}
	l.Proto = b[at]
	l.ProtoAt = uint16(at)
	l.L4 = uint16(at + size)
	return OK
}

const maxLabels = 8

// parseMPLS steps over the label stack of RFC 3032. Nothing in it names what
// follows: IP is taken where the version and all lengths of its header say so, as
// RFC 4928 section 3 expects of those who look. Anything else is not IP; what stands
// behind more than maxLabels labels is not looked at.
func parseMPLS(b []byte, pktLen int, l *Layers) Status {
	at := int(l.L3)
	for range maxLabels {
		if len(b) < at+4 {
			return short(pktLen, at+4)
		}
		bottom := b[at+2]&1 != 0
		at += 4
		if bottom {
			l.L3 = uint16(at)
			return parseLabelled(b, pktLen, l)
		}
	}
	return TooDeep
}

func parseLabelled(b []byte, pktLen int, l *Layers) Status {
	if len(b) <= int(l.L3) {
		return short(pktLen, int(l.L3)+1)
	}
	s := NotIP
	switch b[l.L3] >> 4 {
	case 4:
		s = parseIPv4(b, pktLen, l)
	case 6:
		s = parseIPv6(b, pktLen, l)
	}
	if s == Truncated {
		return NotIP
	}
	return s
}

// parseIPv4 reads the header of RFC 791.
func parseIPv4(b []byte, pktLen int, l *Layers) Status {
	at := int(l.L3)
	if len(b) < at+20 {
		return short(pktLen, at+20)
	}
	h := b[at:]
	_ = h[19]
	ihl := int(h[0]&0x0f) * 4
	total := int(binary.BigEndian.Uint16(h[2:]))
	if h[0]>>4 != 4 || ihl < 20 || total < ihl || at+total > pktLen {
		return Truncated
	}
	if len(b) < at+ihl {
		return NeedMore
	}
	l.IPVersion, l.DSCP, l.Proto = 4, h[1]>>2, h[9]
	l.ProtoAt = uint16(at + 9)
	l.L4 = uint16(at + ihl)
	l.End = uint16(at + total)
	if frag := binary.BigEndian.Uint16(h[6:]); frag&0x3fff != 0 {
		l.Fragment = FirstFragment
		if frag&0x1fff != 0 {
			l.Fragment = LaterFragment
			return OK
		}
	}
	return parseL4(b, l)
}
