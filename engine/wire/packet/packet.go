// Parse: Ethernet, VLAN tags, the IP header (ip.go) and the L4 header in one pass into
// Layers, offsets from the start of the frame; Refresh for another packet with the same
// headers.

package packet

import "encoding/binary"

// Status is the outcome of Parse.
type Status uint8

const (
	OK        Status = iota // an IP packet; L4 fields are set where Proto is TCP or UDP and it is no later fragment
	NotIP                   // some other EtherType; nothing else is set
	Truncated               // a header or a length goes beyond the frame
	NeedMore                // a header goes beyond the first segment, but not beyond the packet
	TooDeep                 // more VLAN tags, MPLS labels or IPv6 extension headers than are stepped over
)

// Fragment says what part of an IP datagram a packet is.
const (
	NotFragment   = 0 // whole; an IPv6 atomic fragment (RFC 6946) counts as whole
	FirstFragment = 1
	LaterFragment = 2
)

// Layers are offsets from the start of the frame, in bytes, and the fields
// that later stages ask for.
type Layers struct {
	L3      uint16 // IP header
	L4      uint16 // first byte after the IP header and its extensions
	Payload uint16 // first byte after the TCP header with options or the UDP header; 0: no such header
	End     uint16 // end of the IP datagram by its own length; Ethernet padding follows
	ProtoAt uint16 // the byte that names the L4 protocol: IPv4 protocol, or the last next header

	EtherType uint16
	VLAN      uint16 // VLAN id of the outermost tag
	VLANs     uint8  // number of tags
	IPVersion uint8  // 4 or 6
	Proto     uint8
	DSCP      uint8
	TCPFlags  uint8
	Fragment  uint8
	SrcPort   uint16
	DstPort   uint16
}

const maxVLANs = 8 // a frame with more is TooDeep

// Parse fills l from a frame: b is its first segment, and pktLen >= len(b) its length. With any
// Status but OK the fields of l are not to be used.
func Parse(b []byte, pktLen int, l *Layers) Status {
	if len(b) < plainUDPLen || pktLen > MaxFrame {
		return parseAny(b, pktLen, l)
	}
	h := b[:plainUDPLen]
	// Untagged Ethernet, IPv4 without options, UDP, not a fragment: most packets.
	total := int(binary.BigEndian.Uint16(h[16:]))
	if binary.BigEndian.Uint32(h[12:])&0xffffff00 != EtherTypeIPv4<<16|0x4500 || h[23] != ProtoUDP ||
		binary.BigEndian.Uint16(h[20:])&0x3fff != 0 || total < 28 || EthernetLen+total > pktLen {
		return parseAny(b, pktLen, l)
	}
	// Field by field: a literal would be built elsewhere in narrow stores and
	// copied in wide loads, which wait for them.
	l.L3, l.L4, l.Payload, l.End = EthernetLen, EthernetLen+20, plainUDPLen, uint16(EthernetLen+total)
	l.ProtoAt, l.EtherType, l.VLAN, l.VLANs = 23, EtherTypeIPv4, 0, 0
	l.IPVersion, l.Proto, l.DSCP, l.TCPFlags, l.Fragment = 4, ProtoUDP, h[15]>>2, 0, NotFragment
	l.SrcPort, l.DstPort = binary.BigEndian.Uint16(h[34:]), binary.BigEndian.Uint16(h[36:])
	return OK
}

// plainUDPLen is the length of Ethernet, IPv4 and UDP headers without options.
const plainUDPLen = EthernetLen + 20 + 8

// parseAny is Parse for every kind of packet.
func parseAny(b []byte, pktLen int, l *Layers) Status {
	if len(b) < EthernetLen {
		return short(pktLen, EthernetLen)
	}
	if pktLen > MaxFrame {
		return Truncated
	}
	return parseEthernet(b, 0, pktLen, l)
}

// parseEthernet reads the Ethernet header at offset at, which is in b.
func parseEthernet(b []byte, at, pktLen int, l *Layers) Status {
	*l = Layers{L3: uint16(at + EthernetLen), EtherType: binary.BigEndian.Uint16(b[at+12:])}
	if IsVLAN(l.EtherType) {
		if s := parseVLAN(b, pktLen, l); s != OK {
			return s
		}
	}
	switch l.EtherType {
	case EtherTypeIPv4:
		return parseIPv4(b, pktLen, l)
	case EtherTypeIPv6:
		return parseIPv6(b, pktLen, l)
	case EtherTypeMPLS, EtherTypeMPLSUpstream:
		return parseMPLS(b, pktLen, l)
	}
	return NotIP
}

// MaxFrame, the longest frame that is parsed, keeps every offset within 16 bits: the longest IP packet and the
// headers in front of it still fit where the packet itself is not larger.
const MaxFrame = 65535

// short returns the status where need bytes were wanted and the first segment ended before.
func short(pktLen, need int) Status {
	if pktLen >= need {
		return NeedMore
	}
	return Truncated
}

// IsVLAN reports whether etherType announces a VLAN tag: 802.1Q, 802.1ad or an earlier one.
func IsVLAN(etherType uint16) bool {
	switch etherType {
	case EtherTypeVLAN, EtherTypeQinQ, EtherType9100, EtherType9200, EtherType9300:
		return true
	}
	return false
}

func parseVLAN(b []byte, pktLen int, l *Layers) Status {
	at := int(l.L3)
	for IsVLAN(l.EtherType) && l.VLANs < maxVLANs {
		if len(b) < at+4 {
			return short(pktLen, at+4)
		}
		if l.VLANs == 0 {
			l.VLAN = binary.BigEndian.Uint16(b[at:]) & 0x0fff
		}
		l.EtherType = binary.BigEndian.Uint16(b[at+2:])
		l.VLANs++
		at += 4
	}
	if IsVLAN(l.EtherType) {
		return TooDeep
	}
	l.L3 = uint16(at)
	return OK
}

// parseL4 finds the end of a TCP or UDP header. A header that does not fit the
// datagram leaves Payload 0: the packet is IP all the same.
func parseL4(b []byte, l *Layers) Status {
	at, end := int(l.L4), int(l.End)
	switch l.Proto {
	case ProtoUDP:
		if at+8 > end {
			return OK
		}
		if len(b) < at+8 {
			return NeedMore
		}
		l.Payload = uint16(at + 8)
	case ProtoTCP:
		if at+20 > end {
			return OK
		}
		if len(b) < at+20 {
			return NeedMore
		}
		offset := int(b[at+12]>>4) * 4
		if offset < 20 || at+offset > end {
			return OK
		}
		if len(b) < at+offset {
			return NeedMore
		}
		l.Payload = uint16(at + offset)
		l.TCPFlags = b[at+13]
	default:
		return OK
	}
	l.SrcPort = binary.BigEndian.Uint16(b[at:])
	l.DstPort = binary.BigEndian.Uint16(b[at+2:])
	return OK
}

// Refresh makes l the layers of b. l was of a packet with the same headers, but for the fields
// that Refresh reads. All IP datagrams of b must end with the packet.
func (l *Layers) Refresh(b []byte, pktLen int) {
	l.End = uint16(pktLen)
	if l.VLANs > 0 {
		l.VLAN = binary.BigEndian.Uint16(b[int(l.L3)-4*int(l.VLANs):]) & 0x0fff
	}
	h := b[l.L3:]
	if l.IPVersion == 4 {
		l.DSCP = h[1] >> 2
	} else {
		l.DSCP = (h[0]<<4 | h[1]>>4) >> 2
	}
	if l.Payload == 0 {
		return
	}
	l.SrcPort, l.DstPort = binary.BigEndian.Uint16(b[l.L4:]), binary.BigEndian.Uint16(b[l.L4+2:])
	if l.Proto == ProtoTCP {
		l.TCPFlags = b[l.L4+13]
	}
}

// ReadDSCP sets the version and the DSCP of the IP header at l.L3, whatever Parse said of what follows it: false
// where there is no whole IP header.
func (l *Layers) ReadDSCP(b []byte, s Status) bool {
	switch {
	case s == OK:
		return true
	case s == NotIP || int(l.L3)+40 > len(b) && (l.EtherType != EtherTypeIPv4 || int(l.L3)+20 > len(b)):
		return false
	}
	h := b[l.L3:]
	switch l.IPVersion = h[0] >> 4; {
	case l.EtherType == EtherTypeIPv4 && l.IPVersion == 4:
		l.DSCP = h[1] >> 2
	case l.EtherType == EtherTypeIPv6 && l.IPVersion == 6:
		l.DSCP = (h[0]<<4 | h[1]>>4) >> 2
	default:
		return false
	}
	return true
}
