// Cuts a draft into blocks of 32 masked bytes: those of its shape and those of the template;
// compares a packet with them.

package fast

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
)

// shapeOf makes the shape: all that stays the same when INT has another length or other
// instructions. lengthAt is the byte that has the length of INT.
func (m *draft) shapeOf(p *shape, lengthAt int) {
	b := blocks{at: p.at[:], block: p.block[:]}
	m.cut(&b, m.front[:], 0)
	p.blocks, p.lengthAt = uint32(b.n), uint16(lengthAt)
	m.refuse(b.n == 0 || lengthAt+8 > len(m.b))
	p.need = uint32(max(int(b.end), lengthAt+8))
}

// variantsBy sets what variants of the shape are told apart by: the length of INT, modulo 16
// words, and the bits of the bitmap that may differ between hops of the same length (queue,
// timestamps and utilization). The upper half of the bitmap is bitmap bytes behind the length.
func (p *shape) variantsBy(bitmap int) {
	const bits = (inthdr.BitQueue | inthdr.BitIngressTimestamp | inthdr.BitEgressTimestamp | inthdr.BitTxUtilization) >> 8
	p.variantMask = 0x0f | bits<<(8*bitmap)
	p.variantBy = 1<<55 | 1<<(59-8*bitmap) // the upper nine bits are those of the bitmap and then those of the length
}

// blocksOf makes the blocks of the template: they compare all that the shape compares, the shim
// and the INT header, lengths, and the bytes behind INT that must be the same. C compares two in
// any case.
func (m *draft) blocksOf() {
	t := &m.t
	for _, l := range t.length[:t.checks] {
		m.same(int(l.at), 0xff, 0xff)
	}
	b := blocks{at: t.at[:], block: t.block[:]}
	m.cut(&b, m.front[:], 0)
	m.cut(&b, m.back[:], m.at)
	for _, l := range t.length[:t.checks] {
		m.refuse(!b.makeLength(l))
	}
	if m.bad {
		return
	}
	if m.need(int(b.end)); b.n == 1 {
		t.at[1], t.block[1] = t.at[0], t.block[0]
		b.n = 2
		t.plain = t.kind & isNotINT
	}
	if t.blocks = uint32(b.n); t.specialAt == 0 {
		m.ordinary(&b)
	}
}

// ordinary finds two bytes, always the same, that are no special port: to be looked at in
// packets that have no port to look at.
func (m *draft) ordinary(b *blocks) {
	for n := range b.n {
		k := &b.block[n]
		for i := range k.want {
			if k.mask[i] == 0xffff && k.length[i] == 0 && !isSpecial(m.special, swap(k.want[i])) {
				m.t.specialAt = b.at[n] + uint16(2*i)
				return
			}
		}
	}
	m.bad = true
}

// blocks collects the blocks of a shape or a template while it is made.
type blocks struct {
	at    []uint16
	block []block
	n     int
	end   uint16 // bytes of the packet that they need
}

// cut cuts masks into blocks and adds them; masks begins at offset base of the packet. A block
// ends with the last number of 16 bits that is compared, so that C reads no further.
func (m *draft) cut(b *blocks, masks []byte, base int) {
	for i := 0; i < len(masks) && !m.bad; i += 2 {
		if masks[i]|masks[i+1] == 0 {
			continue
		}
		last := min(i+30, len(masks)-2)
		for masks[last]|masks[last+1] == 0 {
			last -= 2
		}
		from := max(base+last-30, 0)
		if m.refuse(base%2 != 0 || b.n == len(b.at) || from+32 > len(m.b)) {
			b.add(from, masks[i:last+2], base+i-from, m.b)
		}
		i = last
	}
}

// add adds the block at offset from; masks begin skip bytes further on.
func (b *blocks) add(from int, masks []byte, skip int, frame []byte) {
	var mask [32]byte
	copy(mask[skip:], masks)
	k := &b.block[b.n]
	for i := range k.want {
		k.want[i] = binary.BigEndian.Uint16(frame[from+2*i:])
		k.mask[i] = binary.BigEndian.Uint16(mask[2*i:])
	}
	b.at[b.n] = uint16(from)
	b.n++
	b.end = max(b.end, uint16(from)+32)
}

// makeLength makes the number at l.at one that agrees with the length of the packet; false
// where no block has it.
func (b *blocks) makeLength(l length) bool {
	for i := range b.n {
		k, at := &b.block[i], int(l.at)-int(b.at[i])
		if at < 0 || at > 30 || at%2 != 0 || k.mask[at/2] != 0xffff {
			continue
		}
		k.length[at/2], k.want[at/2] = 0xffff, -l.base
		return true
	}
	return false
}

// is tells whether 32 bytes at p, of a packet of some length, are as b wants them.
func (b *block) is(p []byte, pktLen uint16) bool {
	p = p[:32]
	for i := range b.want {
		x := binary.BigEndian.Uint16(p[2*i:]) - pktLen&b.length[i]
		if (x^b.want[i])&b.mask[i] != 0 {
			return false
		}
	}
	return true
}

// like tells whether two blocks ask for the same.
func (b *block) like(c *block) bool {
	for i := range b.mask {
		if b.mask[i] != c.mask[i] || (b.want[i]^c.want[i])&b.mask[i] != 0 {
			return false
		}
	}
	return true
}
