// draft, continued: INT in GRE, VXLAN-GPE and Geneve, whose outer lengths and checksums strip
// restores.

package fast

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// overTunnel adds INT in GRE, VXLAN-GPE or Geneve to the template. Without INT the packet is
// still a tunnel, or the packet that was in it, which must not have INT itself.
func (m *draft) overTunnel(l *packet.Layers, i *inthdr.Info) {
	switch i.Marking {
	case inthdr.ByGRE:
		m.overGRE(l, i)
	case inthdr.ByVXLANGPE:
		m.overGPE(l, i)
	case inthdr.ByGeneve:
		m.overGeneve(l, i)
	}
}

func (m *draft) overGRE(l *packet.Layers, i *inthdr.Info) {
	if !m.refuse(m.gre(int(l.L4)) != int(i.Shim) || int(i.End) != m.shimEnd(i)) {
		return
	}
	if i.Inserted {
		m.withGRE(l, i)
		return
	}
	m.checkLength(l, false)
	m.endLengths()
	m.addEdit(int(l.L4)+2, 0, swap(i.Next))
	m.sumOfIP(l, 0)
	m.key(l, l.Proto)
	m.inner(l, i, i.Next)
}

// withGRE is GRE that the source made: it goes, with the IP header in front of it.
func (m *draft) withGRE(l *packet.Layers, i *inthdr.Info) {
	m.checkLength(l, false)
	inner := m.inner(l, i, i.Next)
	if m.bad {
		return
	}
	m.same(int(l.L3), 0xff, 0xff) // congestion marks of both headers make that of the packet
	m.same(int(inner.L3), 0xff, 0xff)
	if i.Start != 0 {
		m.t.start = uint32(l.L3)
		m.addEdit(packet.EtherTypeAt(l), 0, swap(i.Next))
	}
	m.checkLength(inner, false)
	if inner.Proto == packet.ProtoUDP {
		m.addLength(int(inner.L4)+4, int(inner.L4))
	}
	m.key(inner, inner.Proto)
	m.t.src, m.t.dst, m.t.portsMask = inner.L4, inner.L4+2, bothPorts
}

// overUDP is what VXLAN-GPE and Geneve have in common; the edits of the tunnel's header add
// to the checksum.
func (m *draft) overUDP(l *packet.Layers, i *inthdr.Info, add uint32) {
	m.destination(l)
	m.checkLength(l, true)
	m.endLengths()
	m.sumOfIP(l, 0)
	if !i.Edit.Has(inthdr.KeepChecksum) {
		m.addSum(sum{at: uint32(l.L4) + 6, removed: 0xffff, add: add + 2*uint32(swap(i.Removed))})
	}
	m.key(l, l.Proto)
	m.t.src, m.t.dst, m.t.portsMask = l.L4, l.L4+2, bothPorts
}

func (m *draft) overGPE(l *packet.Layers, i *inthdr.Info) {
	at := int(l.Payload)
	if !m.refuse(int(i.Shim) != at+packet.VXLANLen || int(i.End) != m.shimEnd(i)) {
		return
	}
	m.same(at, 0xff, 0, 0, 0xff)
	m.network(at)
	if !i.Inserted {
		m.overUDP(l, i, m.addEdit(at+2, 0x00ff, i.Next<<8))
		m.inner(l, i, packet.GPEEtherType(uint8(i.Next)))
		return
	}
	add := m.addEdit(at, ^uint16(packet.VXLANHasNextProtocol), 0) + m.addEdit(at+2, 0x00ff, 0) + m.addEdit(int(l.L4)+2, 0, swap(i.Orig))
	m.overUDP(l, i, add)
	m.t.portsMask = sourcePort
	m.t.keyRest |= uint64(swap(i.Orig)) << 32
	m.inner(l, i, packet.EtherTypeEthernet)
}

func (m *draft) overGeneve(l *packet.Layers, i *inthdr.Info) {
	at := int(l.Payload)
	end := int(i.Shim) + packet.GeneveOptionLen + 4*int(m.b[i.Shim+3]&0x1f)
	if !m.refuse(int(i.Shim) != at+packet.GeneveLen || int(i.End) != end || end != at+packet.GeneveHeaderLen(m.b[at])) { // other options, or more INT
		return
	}
	m.same(at, 0xff, 0, 0xff, 0xff)
	m.network(at)
	add := m.addEdit(at, 0xff00, uint16(m.b[at]-uint8(i.Removed/4)))
	m.overUDP(l, i, add)
	m.inner(l, i, binary.BigEndian.Uint16(m.b[at+2:]))
}

// inner is the packet behind INT, in the tunnel, of an EtherType: a whole one of TCP or UDP
// without INT.
func (m *draft) inner(l *packet.Layers, i *inthdr.Info, etherType uint16) *packet.Layers {
	var in packet.Layers
	m.at = int(i.End)
	if !m.refuse(packet.ParseInner(m.b, int(i.End), int(l.End), etherType, &in) != packet.OK || in.Payload == 0) {
		return &in
	}
	if etherType == packet.EtherTypeEthernet {
		m.ethernet(int(i.End), &in)
	}
	m.ip(&in)
	if in.Proto == packet.ProtoTCP {
		m.tcp(&in)
	} else {
		m.need(int(in.L4) + 8)
		m.t.specialAt = in.L4 + 2
	}
	if m.innerKeys && i.Depth == 0 && !i.Unwraps() {
		m.key(&in, in.Proto)
		m.t.src, m.t.dst, m.t.portsMask, m.carried = in.L4, in.L4+2, bothPorts, true
	}
	return &in
}
