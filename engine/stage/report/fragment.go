// Cuts the fragment of a packet that its report shows: where it begins, how long it is, put
// together across buffers.

package report

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

// MaxFragment is the longest fragment of a packet in a report in bytes.
const MaxFragment = 8192

// fragmentRoom is the room for a fragment that is copied together, with the headers in front of
// IP: Ethernet, eight VLAN tags, eight MPLS labels.
const fragmentRoom = MaxFragment + 14 + 8*4 + 8*4

// shape says where the fragment of a packet begins and ends, with the packet's INT: the same for
// all packets of one header template.
type shape struct {
	at     uint8         // the header template, or fast.None
	inType report.InType // of the fragment
	from   int           // where it begins
	most   int           // where the longest ends
	whole  int           // where it ends at least: INT is whole
	end    int           // of the packet without padding; wholePacket where it has none
	info   *inthdr.Info
}

// wholePacket is the end of packets that have no padding.
const wholePacket = 1 << 20

// shapeOf returns the shape of packet j. Its fragment begins with the outermost layers and
// includes INT, without the padding of Ethernet, which packets with a template do not have.
//
//go:noinline
func (s *Stage) shapeOf(b *burst.Burst, j uint8) shape {
	j &= mbuf.MaxBurst - 1
	i := b.Fast.At[j] & (mbuf.MaxBurst - 1)
	x := shape{at: b.Fast.Template[j], info: b.Header(j), end: wholePacket}
	l := &b.Layers[i]
	switch {
	case x.at != fast.None:
		l = b.Fast.Outermost(x.at)
	case b.Info[i].Depth > 0:
		l = &b.Outers[i][0]
		x.end = int(l.End)
	default:
		x.end = int(l.End)
	}
	rules := s.rules.Report
	switch {
	case rules.Fragment == 0:
		x.inType = report.None
		return x
	case rules.Ethernet:
		x.inType = report.Ethernet
	case l.IPVersion == 6:
		x.from, x.inType = int(l.L3), report.IPv6
	default:
		x.from, x.inType = int(l.L3), report.IPv4
	}
	n := rules.Fragment
	if l.IPVersion == 6 && rules.Fragment6 > 0 {
		n = rules.Fragment6
	}
	x.most = x.from + n
	if rules.WholeINT {
		x.whole = min(x.from+MostOfINT, int(x.info.End)+behindINT(b.Link.Locator, x.info, l))
		x.most = max(x.most, x.whole)
	}
	return x
}

// MostOfINT is the longest fragment that reporting.Rules.WholeINT makes: what a TLV of an explained report holds.
const MostOfINT = report.MaxTLVData

// Lengths of headers behind INT.
const (
	insideLen = 8 + 14 + 4 + 40 + 20 // VXLAN, and in it Ethernet with a tag, IPv6 and TCP
	tcpLen    = 20
	udpLen    = 8
)

// behindINT is how many bytes the headers behind INT take. l are the packet's outermost layers.
func behindINT(locator *inthdr.Locator, i *inthdr.Info, l *packet.Layers) int {
	if i.Marking.Encloses() && i.Marking != inthdr.ByIFA {
		return insideLen
	}
	proto, port := l.Proto, l.DstPort
	switch i.NPT {
	case 1:
		port = i.Orig
	case 2:
		switch i.Orig {
		case packet.ProtoTCP:
			return tcpLen
		case packet.ProtoUDP:
			return udpLen
		}
		proto = uint8(i.Orig)
	}
	if i.Depth == 0 && locator.OfTunnel(proto, port) {
		return insideLen
	}
	return 0
}

// showPacket makes y show packet j.
func (s *Stage) showPacket(y *reporting.Subject, b *burst.Burst, j uint8) {
	x, m := s.shapeOf(b, j), b.Vec[b.Fast.At[j]]
	if y.Dropped && x.inType != report.None {
		x.most = max(x.most-reasonLen, x.whole)
	}
	y.InType, y.Inner = x.inType, s.bytesOf(m, x.from, min(m.PktLen(), x.end, x.most))
	y.INTEnd = x.intEnd()
}

// intEnd is reporting.Subject.INTEnd.
func (s *shape) intEnd() int {
	if s.inType == report.None {
		return 0
	}
	return int(s.info.End) - s.from
}

// bytesOf returns bytes [from, to) of the packet m, or as many as it has. Where its first
// buffer has less they are put together, valid until the next call.
func (s *Stage) bytesOf(m *mbuf.Mbuf, from, to int) []byte {
	f := m.Bytes()
	if to > len(f) && len(f) < m.PktLen() {
		f = m.AppendTo(s.fragment[:0], min(to, len(s.fragment)))
	}
	to = min(to, len(f))
	return f[min(from, to):to]
}
