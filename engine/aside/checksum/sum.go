// Verifies the TCP or UDP checksum of a packet, which it adds up over all buffers.

package checksum

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// State says whether the TCP or UDP checksum of a packet is right. The list is
// closed: it generates metric labels.
type State uint8

const (
	Good State = iota
	Bad
	None // UDP without a checksum, or neither TCP nor UDP
	NumStates
)

// String is the value of the labels before and after.
func (s State) String() string { return [NumStates]string{"good", "bad", "none"}[s] }

// Has reports whether l is a whole TCP or UDP packet without options of IP: with
// those, the destination that the checksum covers may be another one (RFC 8200, 8.1).
func Has(l *packet.Layers) bool { return hasAt(l, l.L4) }

// hasAt is Has where IP's header is to end at l4.
func hasAt(l *packet.Layers, l4 uint16) bool {
	if l.IPVersion == 4 && l4 != l.L3+20 || l.IPVersion == 6 && l4 != l.L3+40 {
		return false
	}
	return l.Payload != 0 && l.Fragment == packet.NotFragment
}

// Of verifies the TCP or UDP checksum of the packet m, which l describes.
func Of(m *mbuf.Mbuf, l *packet.Layers) State { return of(m, l, int(l.End), int(l.End)) }

// OfIFA verifies the TCP or UDP checksum of a packet with IFA, which i describes: L4's length and checksum count neither of
// its two parts. None: the packet has no such checksum, or one that cannot be verified.
func OfIFA(m *mbuf.Mbuf, l *packet.Layers, i *inthdr.Info) State {
	if !hasAt(l, i.Start) {
		return None
	}
	return of(m, l, int(i.Second), int(i.End))
}

// of is Of, less the bytes [from, to), which begin an even number of bytes behind L4 or end with the packet.
func of(m *mbuf.Mbuf, l *packet.Layers, from, to int) State {
	f := m.Bytes()
	l4, n := int(l.L4), int(l.End)-int(l.L4)-(to-from)
	if l.Proto == packet.ProtoUDP {
		h := f[l4:]
		if h[6]|h[7] == 0 {
			return None
		}
		is := int(binary.BigEndian.Uint16(h[4:]))
		if is < 8 || is > n {
			return Bad
		}
		n = is
	}
	addresses := f[l.L3+12:][:8]
	if l.IPVersion == 6 {
		addresses = f[l.L3+8:][:32]
	}
	front := min(n, from-l4)
	s := uint32(checksum.Sum(addresses)) + uint32(l.Proto) + uint32(n) + Sum(m, l4, l4+front) + Sum(m, to, to+n-front)
	for s>>16 != 0 {
		s = s>>16 + s&0xffff
	}
	if s != 0xffff {
		return Bad
	}
	return Good
}

// Sum is the sum of RFC 1071 over bytes [from, to) of the chain m, whose buffers
// may end at odd offsets.
func Sum(m *mbuf.Mbuf, from, to int) (sum uint32) {
	odd := false
	for ; m != nil && to > 0; m = m.Next() {
		b := m.Bytes()
		n := len(b)
		b = b[min(from, n):min(to, n)]
		from, to = max(from-n, 0), to-n
		s := checksum.Sum(b)
		if odd { // RFC 1071, section 2(B): bytes swapped, sum swapped
			s = bits.ReverseBytes16(s)
		}
		sum += uint32(s)
		odd = odd != (len(b)&1 != 0)
	}
	return sum
}
