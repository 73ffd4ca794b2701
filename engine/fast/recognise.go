// Recognises single packets by their templates: those that the parser of package engine has joined,
// and new templates' own.

package fast

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/packet"
	"intsink/flows"
)

// isSpecial tells whether port is one of four.
func isSpecial(ports uint64, port uint16) bool {
	const ones = 0x0001_0001_0001_0001
	x := ports ^ uint64(port)*ones
	return (x-ones)&^x&(ones<<15) != 0
}

// matches tells whether the headers of a packet are of shape p.
func (p *shape) matches(f []byte) bool {
	if len(f) < int(p.need) {
		return false
	}
	for i := range p.block[:p.blocks] {
		if !p.block[i].is(f[p.at[i]:], 0) {
			return false
		}
	}
	return true
}

// matches tells whether a packet is as t says.
func (t *Template) matches(s *State, f []byte, pktLen int) bool {
	if len(f) < int(t.need) || pktLen > packet.MaxFrame {
		return false
	}
	for i := range t.block[:t.blocks] {
		if !t.block[i].is(f[t.at[i]:], uint16(pktLen)) {
			return false
		}
	}
	return !isSpecial(s.special, binary.LittleEndian.Uint16(f[t.specialAt:]))
}

// variantOf is where variant has the first template for the length of INT and the bitmap in a
// packet.
func (p *shape) variantOf(f []byte) int {
	return int(binary.LittleEndian.Uint64(f[p.lengthAt:]) & p.variantMask * p.variantBy / (1 << 64 / variants))
}

// templateOf is the template of a packet if its headers are of shape p, or None.
func (s *State) templateOf(p *shape, f []byte, pktLen int) uint8 {
	if len(f) < int(p.need) {
		return None
	}
	for i := p.variant[p.variantOf(f)]; i < maxTemplates; i = s.templates[i].next {
		if s.templates[i].matches(s, f, pktLen) {
			return i
		}
	}
	return None
}

// setKey makes k the key of a packet.
func (t *Template) setKey(k *flows.Key, f []byte) {
	le := binary.LittleEndian
	ports := uint64(le.Uint16(f[t.src:]))<<48 | uint64(le.Uint16(f[t.dst:]))<<32
	rest := t.keyRest | ports&t.portsMask
	a := f[t.addresses:]
	if t.version6 != 0 {
		k.SetWords6(rest, binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(a[16:]), binary.BigEndian.Uint64(a[24:]))
		return
	}
	k.SetWords4(rest, le.Uint64(a))
}

// swap is a number of the network's order as a little endian load finds it, and back.
func swap(v uint16) uint16 { return bits.ReverseBytes16(v) }
