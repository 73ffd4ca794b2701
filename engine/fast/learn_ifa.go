// draft, continued: a packet with IFA, whose hops C reads by bits and whose two parts it takes out.

package fast

import (
	"unsafe"

	"intsink/engine/event"
	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// castIFA is cast for a live packet with IFA over TCP or UDP, whose hops have one layout. Go knows all others.
func (m *draft) castIFA(p *Parsed) bool {
	l, i, t := p.Layers, p.Info, &m.t
	if !m.refuse(p.IFA == nil || !i.Common || i.Copy || i.Depth > 0 || i.Stack == i.Second || i.Hops > flows.MaxHops || l.Payload == 0 || m.marks.Probe || m.marks.DSCPs>>(l.DSCP&63)&1 != 0) {
		return false
	}
	t.removed, t.start, t.end = uint32(i.Removed), uint32(i.Start), uint32(i.End)
	t.portFrom, t.portTo = etherTypeAt, etherTypeAt
	t.words, t.shorten = uint16(i.Removed/4), uint64(i.Removed)<<32|uint64(i.Removed)
	m.ethernet(0, l)
	behindIP := *l
	behindIP.L4 = i.Start
	m.ip(&behindIP)
	m.same(int(i.Start), 0xff, 0xff, 0x1f) // version and namespace, next header, flags
	if l.Proto == packet.ProtoTCP {
		m.tcp(l)
	}
	m.checkLength(l, false)
	m.endLengths()
	m.sumOfIP(l, m.restoreIP(l, i))
	m.keyOverL4(l, i)
	m.need(int(i.End))
	m.only(l)
	m.ifaHops(i, p)
	m.facts(p)
	t.facts = 0 // those of nodes stand elsewhere
	return !m.bad
}

// ifaHops is hops for IFA.
func (m *draft) ifaHops(i *inthdr.Info, p *Parsed) {
	t, x := &m.t, p.IFA
	const inC = ifa.INTHopLen
	t.ifa, t.types, t.ifaStack, t.ifaLen, t.ifaLongest, t.ifaSecond = 1, oneIFA, i.Stack, uint16(x.Len), uint64(p.Longest), i.Second
	t.common, t.sound, t.stack, t.hopLen, t.hops, t.allHops = 1, 2, 32, inC, uint32(i.Hops), i.Hops
	t.narrow = bit(x.Fields[ifa.RxSeconds].Width > 0 && x.Fields[ifa.RxNanoseconds].Width > 0) // links, which package event knows
	t.path, t.latency, t.queue = event.PathHops(int(i.Hops), p.Layout), uint8(p.Layout.HopLatency), uint8(p.Layout.Queue)
	t.known = -int32(i.Hops) * int32(unsafe.Sizeof(flows.Hop{}))
	t.ifaLast, t.ifaKnown = i.Stack+(i.Hops-1)*uint16(x.Len), -t.known-int32(unsafe.Sizeof(flows.Hop{}))
	for f, at := range map[ifa.Field]*bitsAt{
		ifa.DeviceID: &t.ifaNode, ifa.IngressPort: &t.ifaIngress, ifa.EgressPort: &t.ifaEgress, ifa.ResidenceTime: &t.ifaLatency,
		ifa.Queue: &t.ifaQueue, ifa.Occupancy: &t.ifaOccupancy,
	} {
		*at = m.bitsOf(x.Fields[f], x.Len)
	}
	m.refuse(t.ifaNode.mask == 0 || t.ifaLatency.mask == 0 || t.ifaIngress.mask == 0 || t.ifaEgress.mask == 0 ||
		t.ifaIngress.mask > 0xffff || t.ifaEgress.mask > 0xffff || t.ifaQueue.mask > 0xff)
	same := m.sameLayout(i, x)
	t.hopWords()
	m.need(int(t.ifaLast) + max(x.Len, len(t.ifaLanes)))
	t.inFlow = uint64(t.path|ifaPath) << pathHops
	if !m.ifaWords(x, same) { // C translates them
		t.known, t.inFlow = 0, noHops<<pathHops
	}
}

// sameLayout says what hops that are laid out in this way have in common, and how many of their first bits are the same in all:
// where hops tell their layout, four.
func (m *draft) sameLayout(i *inthdr.Info, x *ifa.Layout) (bits int) {
	t := &m.t
	if i.GNS != ifa.GNSByHop {
		return 0
	}
	const lns = 4
	name := m.b[i.Stack] >> lns
	for k := range int(i.Hops) {
		m.refuse(m.b[int(i.Stack)+k*x.Len]>>lns != name)
	}
	t.ifaLNS, t.ifaName = m.bitsOf(ifa.Bits{At: 0, Width: lns}, x.Len), uint32(name)
	if x.Guessed {
		t.ifaTTL = m.bitsOf(x.Fields[ifa.TTL], x.Len)
		t.ifaNever = m.bitsOf(x.NoTime(), x.Len)
		t.ifaFalls[x.Fields[ifa.TTL].At/8] = 0xff
	}
	return lns
}

// sameStack compares the length of the stack and, where hops have one, the namespace of the first.
func (m *draft) sameStack(i *inthdr.Info) {
	if m.same(int(i.Stack)-1, 0xff); i.GNS == ifa.GNSByHop {
		m.same(int(i.Stack), 0xf0)
	}
}

// ifaPath is FAST_IFA among the hops of a path.
const ifaPath = 0x20

// bitsOf is where C reads a field of a hop of n bytes.
func (m *draft) bitsOf(f ifa.Bits, n int) (b bitsAt) {
	if f.Width == 0 {
		return b
	}
	end := int(f.At + f.Width)
	at := min(int(f.At)/8, n-4)
	if b = (bitsAt{uint16(at), uint16(at*8 + 32 - end), uint32(1<<f.Width - 1)}); at*8+32 < end { // in five bytes
		m.bad = true
	}
	return b
}

// ifaWords says which bytes of a hop are what lanes has of one of INT, from the first 16 on: in place of the second word,
// another one may stand there. The first so many bits of a hop, and those of a time that cannot be, are compared with the
// node, in bits that no node id needs. It returns false where bytes stand otherwise: fields must end with one.
func (m *draft) ifaWords(x *ifa.Layout, same int) bool {
	const (
		word   = 4
		second = 1
	)
	t, ok, other := &m.t, true, -1
	for n := range t.ifaLanes {
		t.ifaLanes[n] = noByte
	}
	put := func(from, to int, mask uint8) {
		at := from
		if w := from / word; w == second || w > 3 {
			ok, other = ok && (other < 0 || other == w), w
			at = second*word + from%word
		}
		t.ifaLanes[to], t.ifaMask[to] = uint8(at), mask
	}
	field := func(f ifa.Bits, lane, size int, number bool) {
		ok = ok && (f.At+f.Width)%8 == 0
		for k := range (int(f.Width) + 7) / 8 { // from the last byte on
			to := lane + size - 1 - k
			if number {
				to = lane + k
			}
			put(int(f.At+f.Width)/8-1-k, to, uint8(1<<min(int(f.Width)-8*k, 8)-1))
		}
	}
	node := x.Fields[ifa.DeviceID]
	field(node, 0, word, false)
	field(x.Fields[ifa.IngressPort], 4, 2, false)
	field(x.Fields[ifa.EgressPort], 6, 2, false)
	field(x.Fields[ifa.ResidenceTime], 8, 4, true)
	if same > 0 {
		beside := int(node.At) == same
		if free := node.Width <= 24; beside {
			to := word - int(node.Width+node.At)/8
			t.ifaMask[to] |= 0xf0
			t.ifaAdd[0] = -(uint32(t.ifaName) << (8*to + 4))
			if x.Guessed {
				ok = ok && free
				put(int(x.NoTime().At)/8, 0, 0xc0)
			}
		} else {
			ok = ok && free && !x.Guessed
			put(0, 0, 0xf0)
			t.ifaAdd[0] = -(uint32(t.ifaName) << 4)
		}
	}
	t.ifaWord = second * word
	if other >= 0 {
		t.ifaWord = uint16(other) * word
	}
	return ok
}

// planIFA makes the patches those of a packet with two parts.
func (m *draft) planIFA() {
	t := &m.t
	between := t.ifaSecond - uint16(t.start) - ifa.HeaderLen
	t.ifaPatches, t.patches = t.patches, 0
	t.ifaPieces = uint8((between + 31) / 32)
	room := 32 * uint32(t.ifaPieces) // is written in front of the second part's end, and must not reach what is still to be read
	m.refuse(t.ifaPatches == 0 || t.end-room < t.start || uint32(t.ifaSecond) < room)
}
