// Go twins of match.c.

package fast

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/packet"
	"intsink/flows"
)

// The twins of match.c.

// is tells whether the 16 bytes at p are as b wants them.
func (b *block) is(p []byte) bool {
	le := binary.LittleEndian
	p = p[:16]
	return (le.Uint64(p)^le.Uint64(b.want[:]))&le.Uint64(b.mask[:])|
		(le.Uint64(p[8:])^le.Uint64(b.want[8:]))&le.Uint64(b.mask[8:]) == 0
}

// isSpecial is not zero where port is one of four.
func isSpecial(ports uint64, port uint16) uint64 {
	const ones = 0x0001_0001_0001_0001
	x := ports ^ uint64(port)*ones
	return (x - ones) &^ x & (ones << 15)
}

func (p *shape) matches(f []byte) bool {
	if len(f) < int(p.need) {
		return false
	}
	for i := range p.block[:p.blocks] {
		if !p.block[i].is(f[p.at[i]:]) {
			return false
		}
	}
	return true
}

// matches tells whether a packet of t's shape and header is as t says.
func (t *Template) matches(s *State, f []byte, pktLen int) bool {
	if len(f) < int(t.need) || pktLen > packet.MaxFrame {
		return false
	}
	if isSpecial(s.special, binary.LittleEndian.Uint16(f[t.specialAt:]))&t.specialMask != 0 {
		return false
	}
	for _, l := range t.length[:t.checks] {
		if int(binary.BigEndian.Uint16(f[l.at:]))+int(l.base) != pktLen {
			return false
		}
	}
	for i := range t.behindBlock[:t.behind] {
		if !t.behindBlock[i].is(f[t.behindAt[i]:]) {
			return false
		}
	}
	return true
}

// templateOf is the template of a packet with the headers of shape p, or None.
func (s *State) templateOf(p *shape, f []byte, pktLen int) uint8 {
	for i := p.variant[f[p.lengthAt]%variants]; i < maxTemplates; i = s.templates[i].next {
		if t := &s.templates[i]; t.header.is(f[p.shim:]) {
			if t.matches(s, f, pktLen) {
				return i
			}
		}
	}
	return None
}

// recognise is the template of a packet, or None.
func (s *State) recognise(f []byte, pktLen int) uint8 {
	if p := &s.shape[s.last]; p.matches(f) {
		if i := s.templateOf(p, f, pktLen); i != None {
			return i
		}
	}
	if len(f) < 24 {
		return None
	}
	hint := &s.hints[hintOf(f)]
	for i := range s.shapes + 1 {
		at := i - 1
		if i == 0 {
			at = uint32(*hint)
		}
		if at >= s.shapes || !s.shape[at].matches(f) {
			continue
		}
		if i := s.templateOf(&s.shape[at], f, pktLen); i != None {
			*hint, s.last = uint8(at), at
			return i
		}
	}
	return None
}

// hintOf is a number that packets of one shape mostly have in common: made of the EtherType
// and of the protocol of an untagged packet.
func hintOf(f []byte) uint8 {
	kind := binary.LittleEndian.Uint16(f[12:])
	if kind == 0x0008 {
		return uint8(kind*5) ^ uint8(kind>>8) ^ f[23] ^ f[15]
	}
	return uint8(kind*5) ^ uint8(kind>>8) ^ f[20] ^ f[17]
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

// matchGo is fast_match.
func matchGo(s *State) {
	s.Unknown = 0
	j := uint32(0)
	for i := range s.n {
		m := s.vec[i]
		f, at := m.Bytes(), uint8(None)
		if s.shapes > 0 {
			at = s.recognise(f, m.PktLen())
		}
		s.At[j], s.Template[j] = uint8(i), at
		if at == None {
			s.Unknown |= 1 << j
			j++
			continue
		}
		t := &s.templates[at]
		if t.kind != isINT {
			continue
		}
		t.setKey(&s.Keys[j], f)
		s.Hashes[j] = s.index.Hash(&s.Keys[j])
		j++
	}
	s.ints = j
}

// receiveGo is fast_receive.
func receiveGo(s *State) {
	matchGo(s)
	s.Missing = 0
	if s.Unknown != 0 || s.ints == 0 {
		return
	}
	if s.watched == 0 {
		s.deferAll()
		return
	}
	lookupGo(s)
	if s.Missing == 0 {
		passGo(s)
	}
}

func (s *State) deferAll() {
	for j := range s.ints {
		s.deferredAt[j] = uint8(j)
	}
	s.deferred = s.ints
}

// lookupGo is fast_lookup.
func lookupGo(s *State) {
	s.Missing = s.index.Find(s.now, s.Keys[:s.ints], s.Hashes[:s.ints], s.Flows[:s.ints])
}

// swap is a number of the network's order as a little endian load finds it, and back.
func swap(v uint16) uint16 { return bits.ReverseBytes16(v) }
