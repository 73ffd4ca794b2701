// Removes INT from GRE, VXLAN-GPE and Geneve, and a tunnel that goes with it; lengths
// and checksums of outer headers; ECN (RFC 6040).

package strip

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// Offsets of checksums from their L4 header.
const (
	udpChecksum = 6
	tcpChecksum = 16
	greChecksum = 4
)

// checksumAt returns where the checksum of the tunnel header at l.L4 stands that covers what is in
// the tunnel; 0 where there is none: an absent one of GRE, the zero of UDP (RFC 768), IP in IP.
func checksumAt(b []byte, l *packet.Layers) int {
	at := int(l.L4)
	switch l.Proto {
	case packet.ProtoUDP:
		if b[at+udpChecksum]|b[at+udpChecksum+1] != 0 {
			return at + udpChecksum
		}
	case packet.ProtoGRE:
		if binary.BigEndian.Uint16(b[at:])&packet.GREChecksum != 0 {
			return at + greChecksum
		}
	}
	return 0
}

// cover returns the sum of everything in b that a tunnel's checksum covers, the checksum included:
// b ends where INT does, and nothing behind it will change.
func cover(b []byte, l *packet.Layers) uint16 {
	if checksumAt(b, l) == 0 {
		return 0
	}
	return checksum.Sum(b[l.L4:])
}

// shorten makes the headers of l agree with a tunnel that lost n bytes. f is what
// cover saw, as it is now; before is what cover returned.
func shorten(f []byte, l *packet.Layers, n int, before uint16) {
	shortenLengths(f, l, n)
	at := checksumAt(f, l)
	if at == 0 {
		return
	}
	// RFC 1624 over all that changed: HC' = ~(~HC + ~before + after). The pseudo
	// header of UDP counts the length once more.
	s := uint32(^binary.BigEndian.Uint16(f[at:])) + uint32(^before) + uint32(checksum.Sum(f[l.L4:]))
	if l.Proto == packet.ProtoUDP {
		s += uint32(^uint16(n))
	}
	c := ^checksum.Fold(uint64(s))
	if c == 0 && l.Proto == packet.ProtoUDP {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(f[at:], c)
}

// shortenLengths takes n off the lengths of the IP header and of the UDP header of l.
func shortenLengths(f []byte, l *packet.Layers, n int) {
	shortenIP(f[l.L3:], l, n)
	if l.Proto == packet.ProtoUDP {
		h := f[l.L4+4:]
		binary.BigEndian.PutUint16(h, binary.BigEndian.Uint16(h)-uint16(n))
	}
}

// shortenIP takes n off the length of the IP header h.
func shortenIP(h []byte, l *packet.Layers, n int) {
	if l.IPVersion == 6 {
		binary.BigEndian.PutUint16(h[4:], binary.BigEndian.Uint16(h[4:])-uint16(n))
		return
	}
	binary.BigEndian.PutUint16(h[2:], binary.BigEndian.Uint16(h[2:])-uint16(n))
	binary.BigEndian.PutUint16(h[10:], ^checksum.AddOnes(^binary.BigEndian.Uint16(h[10:]), ^uint16(n)))
}

// stripTunnel removes INT that a tunnel header carries: VXLAN-GPE, Geneve, GRE.
func stripTunnel(b []byte, l *packet.Layers, i *inthdr.Info) int {
	if i.Unwraps() {
		return stripWithTunnel(b, l, i)
	}
	start, end, n := int(i.Start), int(i.End), int(i.Removed)
	before := cover(b[:end], l)
	f := b[n:end]
	if i.Marking == inthdr.ByGeneve {
		packOptions(b[start:end], n)
		copy(f, b[:start])
	} else {
		copy(f, b[:start])
	}
	switch i.Marking {
	case inthdr.ByVXLANGPE:
		restoreGPE(f, l, i)
	case inthdr.ByGeneve:
		f[l.Payload] -= uint8(n / 4) // Opt Len, the low six bits
	case inthdr.ByGRE:
		binary.BigEndian.PutUint16(f[l.L4+2:], i.Next)
	}
	if i.Edit.Has(inthdr.KeepChecksum) {
		shortenLengths(f, l, n) // of UDP: a checksum of GRE is always its tunnel's own
		return n
	}
	shorten(f, l, n, before)
	return n
}

// restoreGPE gives the VXLAN-GPE header the next protocol of the packet behind INT. If the source
// had made it of a VXLAN header, it makes a VXLAN header of it again.
func restoreGPE(f []byte, l *packet.Layers, i *inthdr.Info) {
	h := f[l.Payload:]
	if !i.Inserted {
		h[3] = uint8(i.Next)
		return
	}
	h[0] &^= packet.VXLANHasNextProtocol
	h[3] = 0
	binary.BigEndian.PutUint16(f[l.L4+2:], i.Orig)
}

// packOptions moves the Geneve options in o that are not of the class of the first
// one, which is INT's, to its end; n bytes go.
func packOptions(o []byte, n int) {
	class := binary.BigEndian.Uint16(o)
	if n == len(o) {
		return
	}
	var kept [252]byte // all options that a Geneve header can have
	at := 0
	for rest := o; len(rest) >= 4; {
		size := min(4+int(rest[3]&0x1f)*4, len(rest))
		if binary.BigEndian.Uint16(rest) != class {
			at += copy(kept[at:], rest[:size])
		}
		rest = rest[size:]
	}
	copy(o[n:], kept[:at])
}

// stripWithTunnel removes the GRE tunnel that a source made, and the IP header in
// front of it: what is inside becomes the packet, with the frame's Ethernet header
// or its own.
func stripWithTunnel(b []byte, l *packet.Layers, i *inthdr.Info) int {
	n, end := int(i.Removed), int(i.End)
	if i.Edit&(inthdr.SetECT1|inthdr.SetCE) != 0 {
		markInside(b, l, i)
	}
	if i.Start == 0 {
		return n // Ethernet inside
	}
	f := b[n:end]
	copy(f, b[:l.L3])
	if at := packet.EtherTypeAt(l); at+2 == int(l.L3) { // behind MPLS labels nothing names the protocol
		binary.BigEndian.PutUint16(f[at:], i.Next)
	}
	return n
}

// ECN codepoints (RFC 3168).
const (
	ect1 = 1
	ce   = 3
)

// markInside gives the packet inside of the tunnel that goes the ECN field that
// RFC 6040, section 4.2 wants.
func markInside(b []byte, l *packet.Layers, i *inthdr.Info) {
	var in packet.Layers
	if packet.ParseInner(b, int(i.End), int(l.End), i.Next, &in) != packet.OK {
		return // never: so it was found
	}
	ecn := uint8(ect1)
	if i.Edit.Has(inthdr.SetCE) {
		ecn = ce
	}
	putECN(b[in.L3:], ecn)
}

// putECN sets the ECN field of the IP header h. The header checksum of IPv4 covers it
// (RFC 1624, equation 3).
func putECN(h []byte, ecn uint8) {
	if h[0]>>4 == 6 {
		h[1] = h[1]&^0x30 | ecn<<4
		return
	}
	old := binary.BigEndian.Uint16(h)
	h[1] = h[1]&^3 | ecn
	addTo(h[10:], old, binary.BigEndian.Uint16(h))
}
