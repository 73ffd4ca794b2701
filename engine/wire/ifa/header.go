// Read: the IFA header behind IP, the metadata header behind L4 or at the packet's end, with every bound checked.

package ifa

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// Problem is why IFA cannot be taken out.
type Problem uint8

const (
	OK        Problem = iota
	NeedMore          // headers go beyond the first segment
	Truncated         // the packet ends within IFA's headers
	Version           // another version than 2
	Place             // nothing says where the metadata header stands behind such a protocol, or with such flags
	Length            // the stack goes beyond the packet
)

// Lengths in bytes.
const (
	HeaderLen   = 4
	wordLen     = 4
	icmpLen     = 8
	MaxStackLen = 255 * wordLen
)

// Flags of the IFA header.
const (
	flagMF = 1 << 4
	flagTS = 1 << 3
	flagI  = 1 << 2
	flagC  = 1 << 0
)

const version2 = 2

// Header is where IFA stands in a packet, in bytes from the start of the frame.
type Header struct {
	At           uint16 // IFA header
	L4, L4End    uint16 // header of the original protocol; the first byte behind it
	Second, End  uint16 // what goes besides the IFA header
	Stack, Bytes uint16 // hops, newest first
	Next         uint8  // the original protocol
	GNS          uint8
	Live         bool // I: the packet itself; else a copy of it
	Part         bool // MF: the stack is one of several
	Tail         bool // TS
}

// Gone is how many bytes go.
func (h *Header) Gone() uint16 { return HeaderLen + h.End - h.Second }

// Read reads the IFA of a packet whose IP header names IFA's protocol; l is what packet.Parse made of it, b the first segment.
// Where that ends within the stack, NeedMore comes with a header that says where the stack ends, else without an end.
func Read(b []byte, l *packet.Layers, h *Header) Problem {
	at, end := int(l.L4), int(l.End)
	if at+HeaderLen > end {
		return Truncated
	}
	if len(b) < at+HeaderLen {
		return NeedMore
	}
	w := binary.BigEndian.Uint32(b[at:])
	flags := w >> 8 & 0xff
	*h = Header{
		At: uint16(at), L4: uint16(at + HeaderLen), GNS: uint8(w >> 24 & 15), Next: uint8(w >> 16),
		Live: flags&flagI != 0, Part: flags&flagMF != 0, Tail: flags&flagTS != 0,
	}
	if w>>28 != version2 {
		return Version
	}
	if h.Tail && flags&(flagC|flagMF) != 0 {
		return Place
	}
	if p := h.findL4End(b, end); p != OK {
		return p
	}
	h.Second = h.L4End
	if h.Tail {
		return h.readTail(b, end)
	}
	before := 0
	if flags&flagC != 0 {
		before += HeaderLen
	}
	if h.Part {
		before += HeaderLen
	}
	return h.readStack(b, int(h.L4End)+before, end)
}

// ReadApart reads the headers of IFA that a terminator has put together: the IFA header, others that its flags name, the metadata header.
// Of where they stood in the packet h says nothing. It returns false where they are not those of IFA 2.0.
func ReadApart(b []byte, h *Header) bool {
	if n := len(b); n < 2*HeaderLen || n > 4*HeaderLen || b[0]>>4 != version2 {
		return false
	}
	flags := b[2]
	*h = Header{
		GNS: b[0] & 15, Next: b[1], Bytes: uint16(b[len(b)-1]) * wordLen,
		Live: flags&flagI != 0, Part: flags&flagMF != 0, Tail: flags&flagTS != 0,
	}
	return true
}

// readStack reads the metadata header at offset at, and the stack behind it.
func (h *Header) readStack(b []byte, at, end int) Problem {
	stack := at + HeaderLen
	if stack > end {
		return Truncated
	}
	if len(b) < stack {
		return NeedMore
	}
	n := int(b[at+3]) * wordLen
	if stack+n > end {
		return Length
	}
	h.Stack, h.Bytes, h.End = uint16(stack), uint16(n), uint16(stack+n)
	if len(b) < stack+n {
		return NeedMore
	}
	return OK
}

// readTail reads the metadata header at the packet's end, and the stack in front of it.
func (h *Header) readTail(b []byte, end int) Problem {
	at := end - HeaderLen
	if at < int(h.L4End) {
		return Truncated
	}
	if len(b) < end {
		return NeedMore
	}
	n := int(b[at+3]) * wordLen
	if at-n < int(h.L4End) {
		return Length
	}
	h.Second, h.End, h.Stack, h.Bytes = uint16(at-n), uint16(end), uint16(at-n), uint16(n)
	return OK
}

// findL4End finds the end of the original L4 header.
func (h *Header) findL4End(b []byte, end int) Problem {
	at, least := int(h.L4), 0
	switch h.Next {
	case packet.ProtoTCP:
		least = packet.TCPLen
	case packet.ProtoUDP:
		least = packet.UDPLen
	case packet.ProtoGRE:
		least = packet.GRELen
	case packet.ProtoICMP, packet.ProtoICMPv6:
		least = icmpLen
	default:
		return Place
	}
	if at+least > end {
		return Truncated
	}
	if len(b) < at+least {
		return NeedMore
	}
	n := least
	switch h.Next {
	case packet.ProtoTCP:
		if n = int(b[at+12]>>4) * wordLen; n < packet.TCPLen {
			return Place
		}
	case packet.ProtoGRE:
		flags := binary.BigEndian.Uint16(b[at:])
		if flags&(packet.GRERouting|packet.GREVersion) != 0 {
			return Place
		}
		n = packet.GREHeaderLen(flags)
	}
	if at+n > end {
		return Truncated
	}
	if len(b) < at+n {
		return NeedMore
	}
	h.L4End = uint16(at + n)
	return OK
}
