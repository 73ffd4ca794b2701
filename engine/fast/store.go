// Store: keeps a template only if it takes INT out of its own packet as the slow path does;
// StoreNotINT for packets without INT.

package fast

import (
	"slices"

	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Making a template costs as much as parsing some ten packets. In a mix of more shapes than fit,
// templates for all packets would cost more than parsing alone. So the first atOnce packets make
// one each, then one packet of sparing. In a burst that is matched after some that were not, one
// packet makes a template, too: traffic that is usual again is soon known.
const (
	atOnce  = 64
	sparing = 256
)

// MayStore tells whether a packet that was parsed should become a template: none of a burst that
// was not matched, whose packets may have one.
func (p *Path) MayStore() bool {
	if p.parseAll || p.skipped {
		return false
	}
	if p.probing {
		p.probing = false
		return true
	}
	p.stores++
	return p.stores <= atOnce || p.stores%sparing == 0
}

// Store makes a template of a packet with INT. It must turn f into want, which is what the
// rest of the program makes of it: the packet without INT.
func (p *Path) Store(k *Parsed, want []byte) bool {
	m := draft{marks: p.marks, special: p.special, b: k.Frame, innerKeys: k.Inner != nil}
	var s shape
	if !m.cast(k) {
		return false
	}
	lengthAt := lengthAt(k.Info)
	if !m.finish(&s, lengthAt, k.Info) || !p.proves(&m, &s, k, want) {
		return false
	}
	at := p.place(&s, lengthAt, k.Frame, m.t.common == 0)
	if at == None {
		return false
	}
	i := *k.Info
	m.t.next, m.t.number = p.templates[at].next, at
	p.templates[at] = m.t
	p.fresh |= 1 << at
	p.numbered |= uint64(m.t.numberBits)
	p.learned[at].layers, p.learned[at].info, p.learned[at].outers = *k.Layers, i, *k.Outers
	return true
}

// StoreNotINT makes a template of a packet of TCP or UDP without INT.
func (p *Path) StoreNotINT(f []byte, l *packet.Layers) bool {
	m := draft{marks: p.marks, special: p.special, b: f}
	may := m.only(l)
	if l.Payload == 0 || may && (p.marks.Probe || p.marks.DSCPs>>(l.DSCP&63)&1 != 0) {
		return false
	}
	m.t.kind = isNotINT
	m.ethernet(0, l)
	m.ip(l)
	if may && l.Proto == packet.ProtoUDP {
		m.t.specialAt = l.L4 + 2
	}
	var s shape
	if m.bad || !m.finish(&s, 12, nil) || p.special != 0 && !m.t.matches(p.State, f, len(f)) {
		return false
	}
	at := p.place(&s, -1, f, false)
	if at == None {
		return false
	}
	m.t.next, m.t.number = p.templates[at].next, at
	p.templates[at] = m.t
	p.fresh |= 1 << at
	return true
}

// proves tells whether the template of m recognises its own packet and takes INT out of it as
// want shows.
func (p *Path) proves(m *draft, s *shape, k *Parsed, want []byte) bool {
	if !s.matches(k.Frame) || !m.t.matches(p.State, k.Frame, k.PktLen) {
		return false
	}
	if k.Inner != nil {
		var key flows.Key
		if m.t.setKey(&key, k.Frame); key.Canonical() != k.Inner.Canonical() {
			return false
		}
	}
	f := slices.Clone(k.Frame)
	return slices.Equal(f[p.stripFrame(&m.t, f, k.PktLen):], want)
}
