// draft: a template in the making: which bytes, lengths, sums and edits of the parsed packet become
// part of it.

package fast

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// draft is a template in the making: which bytes of a parsed packet must be the same in
// others, so that the parser would find the same in them.
type draft struct {
	marks   inthdr.Marks
	special uint64 // State.special
	b       []byte
	front   [frontLen]byte  // masks of the first bytes of the packet
	back    [behindLen]byte // masks of the bytes from backAt on
	at      int             // where back begins
	t       Template
	bad     bool // no template can be made

	innerKeys bool // Parsed.Inner is there:
	carried   bool // the key is of the packet in the tunnel that the flow is
	hasVNI    bool
	vni       uint32 // of the key
}

const (
	frontLen  = 12 + 32*8
	behindLen = 96
)

// same makes the bytes from at on must-be-the-same, under these masks.
func (m *draft) same(at int, masks ...byte) {
	to := m.front[:]
	if m.at > 0 && at >= m.at {
		to, at = m.back[:], at-m.at
	}
	if at < 0 || at+len(masks) > len(to) {
		m.bad = true
		return
	}
	for i, mask := range masks {
		to[at+i] |= mask
	}
}

// need makes n bytes of the first segment necessary.
func (m *draft) need(n int) {
	if n > len(m.b) {
		m.bad = true
	}
	m.t.need = max(m.t.need, uint32(min(n, packet.MaxFrame)))
}

// refuse gives up where bad is true, and tells whether the draft is good.
func (m *draft) refuse(bad bool) bool {
	m.bad = m.bad || bad
	return !m.bad
}

// ethernet is the header that starts at offset at, in front of IP, with its tags.
func (m *draft) ethernet(at int, l *packet.Layers) {
	if !m.refuse(int(l.L3) != at+packet.EthernetLen+4*int(l.VLANs)) { // labels
		return
	}
	for tag := range int(l.VLANs) + 1 {
		m.same(at+12+4*tag, 0xff, 0xff)
	}
}

// only compares what decides whether packets may carry INT: l is of the outermost headers. It returns whether they may.
func (m *draft) only(l *packet.Layers) bool {
	o := m.marks.Only
	if o == nil {
		return true
	}
	if len(o.VLANs) > 0 {
		if l.VLANs > 0 {
			m.same(packet.EthernetLen, 0x0f, 0xff)
		}
		if !o.HasVLAN(l.VLAN) {
			return false
		}
	}
	if len(o.Prefixes) == 0 {
		return true
	}
	if p, at := o.PrefixOf(m.b, l); at >= 0 {
		for n := range p.Bits() {
			m.same(at+n/8, 0x80>>(n%8))
		}
		return true
	}
	src, dst := inthdr.Addresses(m.b, l)
	for _, p := range o.Prefixes {
		m.outside(p, src)
		m.outside(p, dst)
	}
	return false
}

// outside compares the first bit by which an address is not in p.
func (m *draft) outside(p netip.Prefix, a inthdr.Address) {
	addr, at := a.Of()
	if p.Addr().BitLen() != addr.BitLen() {
		return // the IP version is compared
	}
	want, got := p.Addr().AsSlice(), addr.AsSlice()
	for n := range p.Bits() {
		if (want[n/8]^got[n/8])<<(n%8)&0x80 != 0 {
			m.same(at+n/8, 0x80>>(n%8))
			return
		}
	}
}

const ecn = 3

// ip is the IP header with what stands between it and l.L4. The DSCP counts where it may
// mark INT.
func (m *draft) ip(l *packet.Layers) {
	if !m.refuse(l.Fragment != packet.NotFragment) {
		return
	}
	at := int(l.L3)
	m.refuse(m.marks.Extensions && l.IPVersion == 6 && int(l.L4) != at+packet.IPv6Len) // whose options are read in each packet
	if l.IPVersion == 4 {
		tos := byte(0)
		if m.marks.DSCPs != 0 {
			tos = 0xff &^ ecn
		}
		m.same(at, 0xff, tos)
		m.same(at+6, 0x3f, 0xff, 0, 0xff) // all of flags and offset that makes a fragment; protocol
		return
	}
	m.same(at, 0xf0)
	if m.marks.DSCPs != 0 {
		m.same(at, 0xff, 0xc0)
	}
	m.same(at+6, 0xff)
	m.extensions(at+40, int(l.L4), m.b[at+6])
}

const ipv6Fragment = 44

// extensions makes the packet's IPv6 extension headers part of the template: the next header and
// length of each, and the fields that would make it a fragment.
func (m *draft) extensions(at, end int, kind byte) {
	for at < end && at+8 <= len(m.b) && !m.bad {
		m.same(at, 0xff, 0xff)
		size := 8 + int(m.b[at+1])*8
		switch kind {
		case ipv6Fragment:
			m.same(at+2, 0xff, 0xf9)
			size = 8
		case 51: // AH (RFC 4302)
			size = 8 + int(m.b[at+1])*4
		}
		kind = m.b[at]
		at += size
	}
	m.refuse(at != end)
}

// tcp is the data offset.
func (m *draft) tcp(l *packet.Layers) {
	m.same(int(l.L4)+12, 0xf0)
	m.need(max(int(l.L4)+20, int(l.Payload)))
}

// destination is the port of UDP or TCP.
func (m *draft) destination(l *packet.Layers) { m.same(int(l.L4)+2, 0xff, 0xff) }

// tunnel is the header of the tunnel behind l; it returns where its contents begin.
func (m *draft) tunnel(l *packet.Layers) (inner int) {
	at := int(l.L4)
	switch l.Proto {
	case packet.ProtoIPv4, packet.ProtoIPv6:
		return at
	case packet.ProtoGRE:
		return m.gre(at)
	case packet.ProtoUDP:
		m.destination(l)
		at = int(l.Payload)
		if !m.refuse(at == 0 || at+packet.GeneveLen > len(m.b)) {
			return 0
		}
		m.same(at, 0xff, 0, 0xff, 0xff)
		m.network(at)
		inner = at + packet.GeneveLen                      // VXLAN headers are as long
		if l.DstPort == m.marks.Ports[inthdr.GenevePort] { // options
			for end := at + packet.GeneveHeaderLen(m.b[at]); inner < end; inner++ {
				m.same(inner, 0xff)
			}
		}
		return inner
	}
	m.bad = true
	return 0
}

// network compares the VNI of the VXLAN, VXLAN-GPE or Geneve header at offset at, where keys have it.
func (m *draft) network(at int) {
	if !m.innerKeys || m.hasVNI {
		return
	}
	m.same(at+4, 0xff, 0xff, 0xff)
	m.hasVNI, m.vni = true, binary.BigEndian.Uint32(m.b[at+4:])>>8
}

// gre is a GRE header without a checksum; it returns where it ends.
func (m *draft) gre(at int) (end int) {
	if !m.refuse(at+packet.GRELen > len(m.b) || binary.BigEndian.Uint16(m.b[at:])&packet.GREChecksum != 0) {
		return 0
	}
	m.same(at, 0xff, 0xff, 0xff, 0xff)
	return at + packet.GREHeaderLen(binary.BigEndian.Uint16(m.b[at:]))
}

// begin is the header in front of IP where contents of a tunnel begin at offset at: an
// Ethernet header or none.
func (m *draft) begin(at int, l *packet.Layers) {
	if int(l.L3) != at {
		m.ethernet(at, l)
	}
}

// checkLength makes the length field of l's IP header and, over UDP, of that one agree with
// the packet's length. Those that INT's removal changes come first.
func (m *draft) checkLength(l *packet.Layers, udp bool) {
	if l.IPVersion == 4 {
		m.addLength(int(l.L3)+2, int(l.L3))
	} else {
		m.addLength(int(l.L3)+4, int(l.L3)+40)
	}
	if udp && l.Proto == packet.ProtoUDP {
		m.addLength(int(l.L4)+4, int(l.L4))
	}
}

// endLengths makes those lengths that were added the ones that change.
func (m *draft) endLengths() { m.t.lengths = m.t.checks }

func (m *draft) addLength(at, base int) {
	if m.refuse(int(m.t.checks) == maxLengths) {
		m.t.length[m.t.checks] = length{uint16(at), uint16(base)}
		m.t.checks++
	}
}

// addSum adds a checksum to the template. c.add is the change of the sum before it is
// complemented.
func (m *draft) addSum(c sum) {
	if c.flip != 0 {
		c.add = uint32(^fold(uint64(c.add)))
	}
	if m.refuse(int(m.t.sums) == maxSums) {
		m.t.sum[m.t.sums] = c
		m.t.sums++
		m.t.sumRemoved |= uint16(c.removed)
	}
}

// addEdit changes bits of two bytes that are the same in all packets, and returns what that
// adds to a checksum that covers them.
func (m *draft) addEdit(at int, keep, value uint16) (add uint32) {
	if !m.refuse(int(m.t.edits) == maxEdits) {
		return 0
	}
	m.t.edit[m.t.edits] = edit{uint16(at), keep, value}
	m.t.edits++
	return uint32(binary.LittleEndian.Uint16(m.b[at:])&^keep) + uint32(^value)
}

// fold is the one's complement sum of the four 16-bit words of s; zero only for zero.
func fold(s uint64) uint16 {
	t := uint32((s + bits.RotateLeft64(s, 32)) >> 32)
	return uint16((t + bits.RotateLeft32(t, 16)) >> 16)
}
