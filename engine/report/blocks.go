package report

import "encoding/binary"

// AppendEach is AppendAs of a report for each of inner, until it says false of one: n is
// how many it took.
func (p *Packet) AppendEach(t *Template, congested bool, inner [][]byte) (n int) {
	for n < len(inner) {
		size := len(inner[n])
		n += p.appendBlocks(t, congested, inner[n:])
		for n < len(inner) && len(inner[n]) == size { // left by appendBlocks, for whatever reason
			if !p.AppendAs(t, congested, inner[n]) {
				return n
			}
			n++
		}
	}
	return n
}

// blockLen is what one block of copying moves: without calls, by eight moves of 16
// bytes. It is more than the template of any INT-MD packet.
const blockLen = 64

// appendBlocks is AppendEach as long as inner contents are as long as the first ones, by
// copying whole blocks: they overlap, and what that of the template is too long by is
// overwritten. It does nothing where inner contents are shorter than a block or longer
// than two, and leaves a report that ends with the room.
func (p *Packet) appendBlocks(t *Template, congested bool, inner [][]byte) (n int) {
	head, size := uint(t.n), uint(len(inner[0]))
	last := head + size - blockLen // block
	next := head + blockLen        // of inner contents; that end is not less lets the compiler do without checks
	end := head + size
	if size&3 != 0 { // padding
		end = head + (size+3)&^3
	}
	if head > blockLen || size < blockLen || size > 2*blockLen || last > 2*blockLen || end < next ||
		p.last || p.format != Format20 || t.format != Format20 || t.explained != 0 || p.n > len(p.buf) {
		return 0
	}
	b := p.buf[p.n:len(p.buf):len(p.buf)]
	if uint(len(b)) <= end {
		return 0
	}
	first := t.word(congested) | uint32(end/4-1)<<16
	d := (*[blockLen]byte)(b[head:next:next])
	for _, in := range inner {
		if uint(len(in)) != size {
			break
		}
		s := (*[blockLen]byte)(in)
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(t.b[:]))
		binary.BigEndian.PutUint32(b, first)
		if size&3 != 0 {
			binary.BigEndian.PutUint32(b[end-4:end:end], 0) // padding
		}
		moveBlock(d, s)
		if size > blockLen {
			d, s = (*[blockLen]byte)(b[last:last+blockLen:last+blockLen]), (*[blockLen]byte)(in[size-blockLen:size:size])
		}
		moveBlock(d, s)
		n++
		if b = b[end:len(b):len(b)]; uint(len(b)) <= end {
			break
		}
		d = (*[blockLen]byte)(b[head:next:next])
	}
	p.n = len(p.buf) - len(b)
	p.reports += n
	return n
}

func moveBlock(to, from *[blockLen]byte) {
	*(*[16]byte)(to[0:]) = *(*[16]byte)(from[0:])
	*(*[16]byte)(to[16:]) = *(*[16]byte)(from[16:])
	*(*[16]byte)(to[32:]) = *(*[16]byte)(from[32:])
	*(*[16]byte)(to[48:]) = *(*[16]byte)(from[48:])
}
