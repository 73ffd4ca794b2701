// Strip: removes INT over TCP or UDP, moves the headers, restores ports, DSCP, lengths and
// checksums (RFC 1624).

package strip

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// Strip removes INT from the frame that starts with b. l, i and o must be what
// packet.Parse and a Locate or LocateInside that returned Sound left for these
// bytes; the headers up to i.End must be in b. The frame then starts head bytes
// further on: the caller drops them (Mbuf.Adj). Nothing outside b[:i.End] is
// touched, but for the ECN field of the packet inside of a tunnel that goes.
func Strip(b []byte, l *packet.Layers, i *inthdr.Info, o *inthdr.Outers) (head int) {
	if i.Depth == 0 {
		return stripLayers(b, l, i)
	}
	var sums [inthdr.MaxDepth]uint16
	outers := o[:min(int(i.Depth), len(o))]
	for d := range outers {
		sums[d] = cover(b[:i.End], &outers[d])
	}
	head = stripLayers(b, l, i)
	for d := len(outers) - 1; d >= 0; d-- {
		shorten(b[head:i.End], &outers[d], head, sums[d])
	}
	return head
}

// stripLayers removes INT from the layers that it is marked in.
func stripLayers(b []byte, l *packet.Layers, i *inthdr.Info) int {
	switch i.Marking { // no table of functions: through it, all that they are given would be on the heap
	case inthdr.ByGRE, inthdr.ByVXLANGPE, inthdr.ByGeneve:
		return stripTunnel(b, l, i)
	case inthdr.ByIFA:
		return stripIFA(b, l, i)
	case inthdr.ByIOAM:
		return stripIOAM(b, l, i)
	}
	return stripL4(b, l, i)
}

// stripL4 removes INT that stands behind a TCP or UDP header, with the header where
// it was made for INT.
func stripL4(b []byte, l *packet.Layers, i *inthdr.Info) int {
	start, end := int(i.Start), int(i.End)
	n := end - start
	var sum uint16 // of the L4 header, or what a zero UDP checksum is
	if i.NPT != 2 {
		sum = l4Checksum(b, l, i, n)
	}
	// Everything is read before it moves and written after: a wide load from
	// bytes just written narrowly would wait for them.
	front := b[n:end]
	switch {
	case l.IPVersion == 4:
		edit := ipv4Edit(b, l, i, n)
		copy(front, b[:start])
		edit.put(front[l.L3:])
	default:
		length := binary.BigEndian.Uint16(b[l.L3+4:]) - uint16(n)
		copy(front, b[:start])
		putIPv6(front, l, i, length)
	}
	if i.NPT != 2 {
		putL4(front, l, i, sum, n)
	}
	return n
}

// ipv4 is the part of an IPv4 header that changes.
type ipv4 struct {
	tos      uint8
	length   uint16
	proto    uint8
	checksum uint16
}

// ipv4Edit computes the restored header fields.
func ipv4Edit(b []byte, l *packet.Layers, i *inthdr.Info, n int) ipv4 {
	h := b[l.L3:]
	_ = h[19]
	oldTOS, oldLen, oldProto := h[1], binary.BigEndian.Uint16(h[2:]), h[9]
	e := ipv4{tos: i.DSCP<<2 | oldTOS&3, length: oldLen - uint16(n), proto: oldProto}
	if restoresProtocol(i) {
		e.proto = uint8(i.Orig)
	}
	// RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), for the three changed words.
	s := uint32(^binary.BigEndian.Uint16(h[10:])) +
		uint32(^oldLen) + uint32(e.length) +
		uint32(^uint16(oldTOS)) + uint32(e.tos) +
		uint32(^uint16(oldProto)) + uint32(e.proto)
	e.checksum = ^checksum.Fold(uint64(s))
	return e
}

func (e *ipv4) put(h []byte) {
	_ = h[19]
	h[1] = e.tos
	binary.BigEndian.PutUint16(h[2:], e.length)
	h[9] = e.proto
	binary.BigEndian.PutUint16(h[10:], e.checksum)
}

func putIPv6(f []byte, l *packet.Layers, i *inthdr.Info, length uint16) {
	h := f[l.L3:]
	_ = h[39]
	h[0] = h[0]&0xf0 | i.DSCP>>2
	h[1] = h[1]&0x3f | i.DSCP<<6
	binary.BigEndian.PutUint16(h[4:], length)
	if restoresProtocol(i) {
		f[l.ProtoAt] = uint8(i.Orig)
	}
}

// restoresProtocol reports whether INT stood in the place of the original IP protocol.
func restoresProtocol(i *inthdr.Info) bool { return i.NPT == 2 || i.Marking == inthdr.ByIFA }

// l4Checksum computes the restored TCP or UDP checksum from the one in the
// packet: minus the removed bytes, minus n in every length it covers, and with
// the original destination port. It returns the packet's own where that is to be kept.
func l4Checksum(b []byte, l *packet.Layers, i *inthdr.Info, n int) uint16 {
	at := l.L4 + udpChecksum
	if l.Proto == packet.ProtoTCP {
		at = l.L4 + tcpChecksum
	}
	old := binary.BigEndian.Uint16(b[at:])
	if i.Edit.Has(inthdr.KeepChecksum) {
		return old
	}
	removed := checksum.Sum(b[i.Start:i.End])
	length := l.End - l.L4
	lengths := uint32(^length) + uint32(length-uint16(n)) // pseudo header
	if l.Proto == packet.ProtoUDP {
		if old == 0 {
			return 0 // the sender computed none (RFC 768)
		}
		lengths *= 2 // and the UDP header's own
	}
	s := uint32(^old) + uint32(^removed) + lengths
	if i.NPT == 1 {
		s += uint32(^l.DstPort) + uint32(i.Orig)
	}
	sum := ^checksum.Fold(uint64(s))
	if sum == 0 && l.Proto == packet.ProtoUDP {
		return 0xffff // RFC 768: a computed zero is sent as all ones
	}
	return sum
}

func putL4(f []byte, l *packet.Layers, i *inthdr.Info, sum uint16, n int) {
	h := f[l.L4:]
	if l.Proto == packet.ProtoTCP {
		binary.BigEndian.PutUint16(h[16:], sum)
		return
	}
	_ = h[7]
	if i.NPT == 1 {
		binary.BigEndian.PutUint16(h[2:], i.Orig)
	}
	binary.BigEndian.PutUint16(h[4:], binary.BigEndian.Uint16(h[4:])-uint16(n))
	binary.BigEndian.PutUint16(h[6:], sum)
}
