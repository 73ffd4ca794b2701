// Reads the checksums of a packet as it came, and compares them with what it is without INT.

package verify

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/aside/checksum"
	"intsink/engine/burst"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// picked is a packet whose checksums are verified: its IPv4 headers, and TCP or UDP in them, of the
// packet and of the tunnels around it, as far as INT.
type picked struct {
	i, j   int
	depth  int
	l3     [inthdr.MaxDepth + 1]uint16 // where the IP headers stand, which stripping leaves
	v6     [inthdr.MaxDepth + 1]bool
	was    checksum.State // as it came
	hidden bool           // what stands there after stripping was behind INT before
}

// begin reads the checksums of packet j, which has its INT.
func (a *Aside) begin(b *burst.Burst, j uint8) {
	b.Complete(j)
	i := int(b.Fast.At[j])
	h, m := &b.Info[i], b.Vec[i]
	if b.Verdict[i] == burst.Consumed || h.Discard || h.Edit.Has(inthdr.DropCongested) {
		return
	}
	x := &a.all[a.n]
	*x = picked{i: i, j: int(j), depth: int(h.Depth), was: checksum.None, hidden: h.NPT == 2 || h.Unwraps()}
	for d := range x.depth + 1 {
		l := &b.Layers[i]
		if d < x.depth {
			l = &b.Outers[i][d]
		}
		x.l3[d], x.v6[d] = l.L3, l.IPVersion == 6
		x.was = worse(x.was, layerState(m, l))
	}
	switch l := &b.Layers[i]; {
	case h.Marking == inthdr.ByIFA: // stands between IP and L4
		x.was = worse(x.was, checksum.OfIFA(m, l, h))
	case h.Marking.InFront() && l.Payload != 0 && l.Fragment == packet.NotFragment: // likewise, with a length that does not count it
		x.was = worse(x.was, checksum.Of(m, l))
	}
	a.n++
}

// result compares a packet as it is now with what it was.
func (a *Aside) result(m *mbuf.Mbuf, x *picked) Result {
	now := checksum.None
	for d := range x.depth + 1 {
		etherType := uint16(packet.EtherTypeIPv4)
		if x.v6[d] {
			etherType = packet.EtherTypeIPv6
		}
		if packet.ParseInner(m.Bytes(), int(x.l3[d]), m.PktLen(), etherType, &a.room) != packet.OK {
			if x.hidden {
				return Unverifiable
			}
			return Bad // it was an IP packet before
		}
		now = worse(now, layerState(m, &a.room))
	}
	switch {
	case now == checksum.Good:
		return Good
	case now == checksum.Bad && x.was != checksum.Bad && !x.hidden:
		return Bad
	}
	return Unverifiable
}

// worse is what two checksums amount to: bad where one is, good where one is and none is bad.
func worse(a, b checksum.State) checksum.State {
	if a == checksum.Bad || b == checksum.Bad {
		return checksum.Bad
	}
	return min(a, b)
}

// layerState is what the checksums of one IP header, and of the TCP or UDP header behind it,
// amount to.
func layerState(m *mbuf.Mbuf, l *packet.Layers) checksum.State {
	s := checksum.None
	if l.IPVersion == 4 {
		s = checksum.Good
		if checksum.Sum(m, int(l.L3), int(l.L3)+int(m.Bytes()[l.L3]&0xf)*4)%0xffff != 0 {
			s = checksum.Bad
		}
	}
	if checksum.Has(l) {
		s = worse(s, checksum.Of(m, l))
	}
	return s
}
