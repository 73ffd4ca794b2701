// The IPv6 header and the walk over its extension headers.

package packet

import "encoding/binary"

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
