// Learn: makes a Template of a parsed packet: L2 to L4 headers, INT over TCP and UDP.

package fast

import (
	"bytes"
	"encoding/binary"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Parsed is a packet that the parser has gone through.
type Parsed struct {
	Frame  []byte // the first segment
	PktLen int
	Layers *packet.Layers
	Info   *inthdr.Info   // of a packet with INT, Classify called
	Layout *inthdr.Layout // of one hop
	Outers *inthdr.Outers

	IFA     *ifa.Layout // of all hops of a packet with IFA; nil: they have not one
	Longest uint32      // residence time that can be

	Inner *flows.Key // the packet's key, where flows are told apart by what is in tunnels; else nil

	NumberAt, NumberLen int // where its sequence number stands; NumberLen 0: it has none
}

// cast makes the template of a packet with INT-MD or INT-MX: false where no template can be made.
func (m *draft) cast(p *Parsed) bool {
	l, i := p.Layers, p.Info
	if i.Marking >= inthdr.ByIFA { // IOAM has no layout of IFA
		return m.castIFA(p)
	}
	if !m.refuse(i.Edit&^inthdr.KeepChecksum != 0 || i.Type == inthdr.Destination || i.End-i.Start != i.Removed || i.Removed < inthdr.ShimLen || i.Removed%4 != 0 ||
		int(i.Shim)+inthdr.ShimLen+i.Format.HeaderLen() > len(m.b) || i.Hops > flows.MaxHops && i.Common || m.marks.Probe && (i.Depth > 0 || i.Marking > inthdr.ByProbeMarker)) {
		return false
	}
	m.t.removed, m.t.start, m.t.end = uint32(i.Removed), uint32(i.Start), uint32(i.End)
	m.t.portFrom, m.t.portTo = etherTypeAt, etherTypeAt
	m.t.words, m.t.shorten = uint16(i.Removed/4), uint64(i.Removed)<<32|uint64(i.Removed)
	from := 0
	for d := range p.Outers[:min(int(i.Depth), len(p.Outers))] {
		o := &p.Outers[d]
		m.begin(from, o)
		m.ip(o)
		if from = m.tunnel(o); m.bad {
			return false
		}
		if o.Proto == packet.ProtoUDP { // a checksum that covers all that is inside
			m.refuse(binary.LittleEndian.Uint16(m.b[o.L4+6:]) != 0)
			m.same(int(o.L4)+6, 0xff, 0xff)
		}
		m.checkLength(o, true)
		m.sumOfIP(o, 0)
	}
	if from == 0 {
		m.ethernet(0, l)
	} else {
		m.begin(from, l)
	}
	m.ip(l)
	switch i.Marking {
	case inthdr.ByGRE, inthdr.ByVXLANGPE, inthdr.ByGeneve:
		m.overTunnel(l, i)
	default:
		m.overL4(l, i)
	}
	m.need(int(i.End))
	if i.Depth > 0 {
		m.only(&p.Outers[0])
	} else {
		m.only(l)
	}
	if m.hasVNI {
		m.t.keyRest = flows.WithVNI(m.t.keyRest, m.vni)
	}
	m.hops(i, p.Layout)
	m.number(p)
	m.facts(p)
	return !m.bad
}

// header is shim and header: all but the original port, Remaining Hop Count and DS Flags; of June
// 2016, Max Hop Count, which tells the former.
func (m *draft) header(i *inthdr.Info) {
	mask := bytes.Repeat([]byte{0xff}, inthdr.ShimLen+i.Format.HeaderLen())
	if i.NPT == 1 && i.Marking <= inthdr.ByProbeMarker {
		mask[2], mask[3] = 0, 0
	}
	switch i.Format {
	case inthdr.Format2:
		mask[inthdr.ShimLen+3], mask[inthdr.ShimLen+10], mask[inthdr.ShimLen+11] = 0, 0, 0
	case inthdr.Format2016:
		mask[inthdr.ShimLen+2] = 0
	default:
		mask[inthdr.ShimLen+3] = 0
	}
	m.same(int(i.Shim), mask...)
	m.need(int(i.Shim) + len(mask))
}

// bitmapAt is where an INT-MD header has the Instruction Bitmap.
const bitmapAt = 4

// etherTypeAt are two bytes in front of INT, which stay as they are, in every packet.
const etherTypeAt = 12

// noHops is more hops than any path has.
const noHops = 0xff

// pathHops is where flows.Flow has the hops of its path, flagsFrom where it has its flags, in bits from Generation on.
const (
	pathHops  = 48
	flagsFrom = 24
)

// flags handles TCP flags that end a flow: a packet with one gets a template of its own, which is
// compared with no flow's hops, so that it is deferred.
func (m *draft) flags() {
	t := &m.t
	if t.flagsMask == 0 || m.bad {
		return
	}
	m.same(int(t.flagsAt), t.flagsMask)
	if m.b[t.flagsAt]&t.flagsMask != 0 {
		t.common, t.sound, t.hops, t.allHops, t.known = 0, 0, noHops, 0, 0
		t.inFlow = noHops << pathHops
	}
}

// sumOfIP is the checksum of an IPv4 header that becomes shorter, and whose edits make add.
func (m *draft) sumOfIP(l *packet.Layers, add uint32) {
	if l.IPVersion == 4 {
		m.addSum(sum{at: uint32(l.L3) + 10, always: 0xffff, flip: 0xffff, add: add + uint32(swap(uint16(m.t.removed)))})
	}
}

// overL4 is INT behind a TCP or UDP header.
func (m *draft) overL4(l *packet.Layers, i *inthdr.Info) {
	udp := l.Proto == packet.ProtoUDP
	if !m.refuse(m.shimEnd(i) != int(i.End) || l.Payload == 0) { // followed by another shim
		return
	}
	if !udp {
		m.tcp(l)
	}
	if i.Marking == inthdr.ByPort || i.Marking == inthdr.ByProbeMarker && m.marks.ProbePorts {
		m.destination(l)
	}
	if i.Marking == inthdr.ByProbeMarker {
		m.same(int(i.Start), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	}
	m.checkLength(l, udp && i.NPT != 2)
	m.endLengths()
	if udp && i.NPT == 2 {
		m.addLength(int(l.L4)+4, int(l.L4))
	}
	add := m.restoreIP(l, i)
	m.sumOfIP(l, add)
	n := uint32(swap(i.Removed))
	if i.NPT != 2 && !i.Edit.Has(inthdr.KeepChecksum) {
		if udp {
			c := sum{at: uint32(l.L4) + 6, removed: 0xffff, add: 2 * n}
			if i.NPT == 1 {
				c.add += uint32(swap(l.DstPort))
			}
			m.addSum(c)
		} else {
			m.addSum(sum{at: uint32(l.L4) + 16, always: 0xffff, flip: 0xffff, removed: 0xffff, add: n})
		}
	}
	m.keyOverL4(l, i)
}

// restoreIP restores DSCP and protocol, and returns what that adds to IPv4's checksum.
func (m *draft) restoreIP(l *packet.Layers, i *inthdr.Info) (add uint32) {
	if i.DSCP != l.DSCP {
		if l.IPVersion == 4 {
			add += m.addEdit(int(l.L3), 0x03ff, uint16(i.DSCP)<<10)
		} else {
			m.addEdit(int(l.L3), 0x3ff0, uint16(i.DSCP>>2)|uint16(i.DSCP<<6)<<8)
		}
	}
	if i.NPT != 2 && i.Marking != inthdr.ByIFA {
		return add
	}
	at, proto := int(l.ProtoAt), i.Orig&0xff
	if at&1 != 0 {
		return add + m.addEdit(at-1, 0x00ff, proto<<8)
	}
	return add + m.addEdit(at, 0xff00, proto)
}

// keyOverL4 is the key of the original packet, and the port that it was sent to: that must
// be none behind which there is a tunnel.
func (m *draft) keyOverL4(l *packet.Layers, i *inthdr.Info) {
	t := &m.t
	proto, src, dst := l.Proto, l.L4, l.L4+2
	switch i.NPT {
	case 1:
		dst = i.Shim + 2
		t.portFrom, t.portTo, t.portMask = uint32(dst), uint32(l.L4)+2, 0xffff
	case 2:
		proto, src, dst = uint8(i.Orig), i.End, i.End+2
		if !m.refuse(proto != packet.ProtoTCP && proto != packet.ProtoUDP) {
			return
		}
		m.original(i)
	}
	m.key(l, proto)
	t.src, t.dst, t.portsMask = src, dst, bothPorts
	if proto == packet.ProtoUDP {
		t.specialAt = dst
	} else {
		t.flagsAt, t.flagsMask = l.L4+13, packet.TCPFIN|packet.TCPRST
		if i.NPT == 2 {
			t.flagsAt = i.End + 13
		}
		m.need(int(t.flagsAt) + 1)
	}
}

// bothPorts are the bits of a key that are ports, sourcePort those of the first.
const (
	bothPorts  = 0xffffffff_00000000
	sourcePort = 0xffff0000_00000000
)

// original is the L4 header behind INT, which must fit the packet.
func (m *draft) original(i *inthdr.Info) {
	at := int(i.End)
	if i.Orig == packet.ProtoUDP {
		m.addLength(at+4, at)
		m.need(at + 8)
		return
	}
	m.at = at
	m.same(at+12, 0xf0)
	if m.need(at + 20); !m.bad {
		m.need(at + int(m.b[at+12]>>4)*4)
	}
}

// shimEnd is where INT ends by the Length of its shim; one of INT 1.0 or 2016 counts itself.
func (m *draft) shimEnd(i *inthdr.Info) int {
	if i.Format != inthdr.Format2 {
		return int(i.Shim) + 4*int(m.b[i.Shim+2])
	}
	return int(i.Shim) + inthdr.ShimLen + 4*(int(m.b[i.Shim+1])-m.marks.Counted)
}

func (m *draft) key(l *packet.Layers, proto uint8) {
	t := &m.t
	t.keyRest = flows.PortsProto(l.IPVersion, proto, 0, 0)
	t.addresses, t.version6 = l.L3+12, 0
	if l.IPVersion == 6 {
		t.addresses, t.version6 = l.L3+8, 1
	}
}

// lengthAt is the byte that has the length of INT.
func lengthAt(i *inthdr.Info) int {
	switch {
	case i.Marking == inthdr.ByGeneve:
		return int(i.Shim) + 3
	case i.Marking == inthdr.ByIFA:
		return int(i.Stack) - 1
	case i.Format != inthdr.Format2:
		return int(i.Shim) + 2
	}
	return int(i.Shim) + 1
}

// finish makes the shape and the blocks, of a packet with INT if there is an i, and tells
// whether the draft is good.
func (m *draft) finish(p *shape, lengthAt int, i *inthdr.Info) bool {
	m.shapeOf(p, lengthAt)
	switch {
	case i == nil:
	case i.Marking == inthdr.ByIFA:
		p.variantMask, p.variantBy = 0xff, 1<<55
		m.sameStack(i)
		m.flags()
		m.plan()
		m.planIFA()
	default:
		p.variantsBy(int(i.Shim) + inthdr.ShimLen + bitmapAt - lengthAt)
		m.header(i)
		m.flags()
		m.plan()
	}
	m.blocksOf()
	t := &m.t
	m.need(max(int(t.addresses)+8+24*int(t.version6), int(t.src)+2, int(t.dst)+2, int(t.specialAt)+2, int(p.need)))
	return !m.bad
}
