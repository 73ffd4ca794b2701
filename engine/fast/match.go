// Go twin of match.c: recognises which template each packet of a burst has and makes its key and
// hash; twin of fast_receive.

package fast

import (
	"encoding/binary"
	"math"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/packet"
	"intsink/flows"
)

// The twins of match.c.

// isSpecial tells whether port is one of four.
func isSpecial(ports uint64, port uint16) bool {
	const ones = 0x0001_0001_0001_0001
	x := ports ^ uint64(port)*ones
	return (x-ones)&^x&(ones<<15) != 0
}

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

// recognise is the template of a packet, or None.
func (s *State) recognise(f []byte, pktLen int) uint8 {
	if len(f) < hintsFrom+hintsLen {
		return None
	}
	hint, tried := s.hintOf(f), uint32(0)
	for k := range 4 {
		n := *hint >> (8 * k) & 0xff
		if i := s.templateOf(&s.shape[n], f, pktLen); i != None {
			return i
		}
		tried |= 1 << n
	}
	for left := s.ofKind[kindOf(f)] &^ tried; left != 0; left &= left - 1 {
		n := uint32(bits.TrailingZeros32(left))
		if !s.shape[n].matches(f) {
			continue
		}
		if i := s.templateOf(&s.shape[n], f, pktLen); i != None {
			*hint = *hint<<8 | n
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
		stripUnwatchedGo(s)
		return
	}
	lookupGo(s)
	if s.Missing == 0 {
		passGo(s)
	}
}

// stripUnwatchedGo is strip_unwatched.
func stripUnwatchedGo(s *State) {
	sound, mx := s.strip != 0, uint32(0)
	for _, at := range s.Template[:s.ints] {
		t := &s.templates[at]
		sound = sound && t.sound != 0
		mx += uint32(t.mx)
	}
	if !sound {
		s.deferAll()
		return
	}
	s.MX = mx
	stripGo(s, math.MaxUint64>>(mbuf.MaxBurst-s.ints))
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
