// Appends reports by a report template: AppendAs one in any format with inner contents and
// lengths, AppendEach many by copying blocks of 64 bytes.

package report

import (
	"encoding/binary"
)

// AppendAs is Append of a report that is as t and shows inner, which must be nil where t has
// None; of an explained one, a TLV holds it, or its beginning. False, and nothing changed: there
// is no room, or the packet is closed, Full, or of another format.
func (p *Packet) AppendAs(t *Template, congested bool, inner []byte) bool {
	if p.format != t.format || t.n == 0 {
		return false
	}
	if t.format != Format20 {
		return p.appendOldAs(t, congested, inner)
	}
	if t.explained != 0 {
		inner = inner[:min(len(inner), MaxTLVData)]
		t.setPacket(len(inner))
	}
	at, end := p.n, p.n+t.n+(len(inner)+3)&^3
	if end > len(p.buf) || p.last {
		return false
	}
	p.n = end
	p.reports++
	t.put(p.buf[at:end], p.length(t, congested, end-at), inner)
	return true
}

// length returns the first word of a 2.0 report of so many bytes by t. One of 255 words or more is
// the last of p.
func (p *Packet) length(t *Template, congested bool, size int) uint32 {
	words := (size - firstWordLen) / 4
	if words > maxCoalesced {
		words, p.last = toTheEnd, true
	}
	return t.word(congested) | uint32(words)<<16
}

// appendOldAs is appendOld by t.
func (p *Packet) appendOldAs(t *Template, congested bool, inner []byte) bool {
	if p.last || t.n > len(p.buf) {
		return false
	}
	n := min(len(inner), len(p.buf)-t.n)
	t.put(p.buf[:t.n+n], t.word(congested), inner[:n])
	p.n, p.reports, p.last = t.n+n, 1, true
	return true
}

// put writes a report to b, which is as long as t and inner, padded.
//
//go:noinline
func (t *Template) put(b []byte, first uint32, inner []byte) {
	n := t.n
	switch {
	case n <= blockLen && len(b) >= blockLen:
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(t.b[:])) // the surplus is overwritten by inner, which is longer
	case len(b) >= maxHead:
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(t.b[:]))
		moveBlock((*[blockLen]byte)(b[blockLen:]), (*[blockLen]byte)(t.b[blockLen:]))
	default:
		copy(b, t.b[:n])
	}
	binary.BigEndian.PutUint32(b, first)
	putInner(b[n:], inner)
}

// putInner writes inner to b, which is as long, padded with zeros.
func putInner(b, inner []byte) {
	n := len(inner)
	if len(b) > n {
		clear(b[n:])
	}
	if n < blockLen || n > 2*blockLen || len(b) < n {
		copy(b, inner)
		return
	}
	moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(inner))
	moveBlock((*[blockLen]byte)(b[n-blockLen:]), (*[blockLen]byte)(inner[n-blockLen:]))
}

// AppendEach is AppendAs of a report for each of inner, until it says false of one: n is
// how many it took.
func (p *Packet) AppendEach(t *Template, congested bool, inner [][]byte) (n int) {
	for n < len(inner) {
		size := len(inner[n])
		if t.n <= blockLen && t.explained == 0 {
			n += p.appendBlocks(t, congested, inner[n:])
		} else {
			n += p.appendLong(t, congested, inner[n:])
		}
		for n < len(inner) && len(inner[n]) == size { // left by these, for whatever reason
			if !p.AppendAs(t, congested, inner[n]) {
				return n
			}
			n++
		}
	}
	return n
}

// blockLen is what one block of copying moves: without calls, by eight moves of 16
// bytes. It is more than what stands in front of the packet of any INT-MD packet, if it is not
// explained.
const blockLen = 64

// appendBlocks is AppendEach as long as inner contents are as long as the first ones, by
// copying whole blocks, which overlap: bytes copied beyond the template are overwritten by the
// packet. It does nothing where inner contents are shorter than a block or longer
// than two, or the template is longer than one, and leaves a report that ends with the room.
func (p *Packet) appendBlocks(t *Template, congested bool, inner [][]byte) (n int) {
	head, size := uint(t.n), uint(len(inner[0]))
	last := head + size - blockLen // block
	next := head + blockLen        // of inner contents; that end is not less lets the compiler do without checks
	end := head + size
	if size&3 != 0 { // padding
		end = head + (size+3)&^3
	}
	if head > blockLen || size < blockLen || size > 2*blockLen || last > 2*blockLen || end < next || !p.takesBlocks(t) {
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

// takesBlocks reports whether reports of 2.0 can follow what is in p.
func (p *Packet) takesBlocks(t *Template) bool {
	return !p.last && p.format == Format20 && t.format == Format20 && p.n <= len(p.buf)
}

// appendLong is appendBlocks for templates of two blocks, and explained ones.
func (p *Packet) appendLong(t *Template, congested bool, inner [][]byte) (n int) {
	head, size := uint(t.n), uint(len(inner[0]))
	end := (head + size + 3) &^ 3
	if head > maxHead || size < blockLen || size > 2*blockLen || end < maxHead || !p.takesBlocks(t) {
		return 0
	}
	if t.explained != 0 {
		t.setPacket(int(size))
	}
	n = putLong(p.buf[p.n:], &t.b, t.word(congested)|uint32(end/4-1)<<16, head, size, inner)
	p.n += n * int(end)
	p.reports += n
	return n
}

// putLong writes reports of packets with size bytes into b, as many as have room. Each begins
// with head bytes of template, with another first word.
//
//go:noinline
func putLong(b []byte, template *[maxHead]byte, first uint32, head, size uint, inner [][]byte) (n int) {
	last, next, end := head+size-blockLen, head+blockLen, (head+size+3)&^3
	if head > maxHead || size < blockLen || size > 2*blockLen || end < next || end < maxHead || uint(len(b)) <= end {
		return 0
	}
	d := (*[blockLen]byte)(b[head:next:next])
	for _, in := range inner {
		if uint(len(in)) != size {
			break
		}
		s := (*[blockLen]byte)(in)
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(template[:]))
		moveBlock((*[blockLen]byte)(b[blockLen:maxHead:maxHead]), (*[blockLen]byte)(template[blockLen:]))
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
	return n
}

func moveBlock(to, from *[blockLen]byte) {
	*(*[16]byte)(to[0:]) = *(*[16]byte)(from[0:])
	*(*[16]byte)(to[16:]) = *(*[16]byte)(from[16:])
	*(*[16]byte)(to[32:]) = *(*[16]byte)(from[32:])
	*(*[16]byte)(to[48:]) = *(*[16]byte)(from[48:])
}
