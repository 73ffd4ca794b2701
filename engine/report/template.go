// Template: what reports of one run have in common, appended many at once by copying blocks.

package report

import "encoding/binary"

// Template is what individual reports of Format20 have in common when they differ only
// in their inner contents and in their events: the first word and the main contents
// with metadata. The zero value is none.
type Template struct {
	b     [firstWordLen + intMainLen + MaxMetadata]byte
	n     int // of b; 0: there is none
	first uint32
}

// Make takes all of r but its inner contents and what a Variant says. False: its
// metadata cannot be expressed, and t is none.
func (t *Template) Make(r *Individual) bool {
	c := *r
	c.InType, c.Inner, c.CongestedQueue, c.TrackedFlow = None, nil, false, false
	t.n = 0
	if !c.sound() {
		return false
	}
	n := firstWordLen + c.words()*4
	c.put(t.b[:n], 0)
	t.n, t.first = n, binary.BigEndian.Uint32(t.b[:])
	return true
}

// Clear makes t none.
func (t *Template) Clear() { t.n = 0 }

// IsNone tells whether t is none.
func (t *Template) IsNone() bool { return t.n == 0 }

// Variant is in what a report differs from its template, besides Inner, as it stands in
// the first word.
type Variant uint32

// VariantOf is the Variant of a report of a packet of a flow.
func VariantOf(t InType, congested bool) Variant {
	return Variant(t)<<24 | Variant(bit(congested, 6)|bit(true, 5))
}

// AppendAs is Append of a report that is as t but for v and inner, which must be
// nil where v has None. False, and nothing changed: there is no room, or the packet is
// closed, Full, or not of Format20.
func (p *Packet) AppendAs(t *Template, v Variant, inner []byte) bool {
	at := p.n
	end := at + t.n + (len(inner)+3)&^3
	if end > len(p.buf) || p.last || p.format != Format20 {
		return false
	}
	length := (end - at - firstWordLen) / 4
	if length > maxCoalesced {
		length, p.last = toTheEnd, true
	}
	p.n = end
	p.reports++
	t.put(p.buf[at:end], uint32(v)|uint32(length)<<16, inner)
	return true
}

// put writes a report to b.
//
//go:noinline
func (t *Template) put(b []byte, first uint32, inner []byte) {
	n := t.n
	if n <= blockLen && len(b) >= blockLen {
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(t.b[:])) // inner is more than what it takes too much
	} else {
		copy(b, t.b[:n])
	}
	binary.BigEndian.PutUint32(b, t.first|first)
	if n += copy(b[n:], inner); n < len(b) {
		clear(b[n:])
	}
}

// AppendEach is AppendAs of a report for each of inner, until it says false of one: n is
// how many it took.
func (p *Packet) AppendEach(t *Template, v Variant, inner [][]byte) (n int) {
	for n < len(inner) {
		size := len(inner[n])
		n += p.appendBlocks(t, v, inner[n:])
		for n < len(inner) && len(inner[n]) == size { // left by appendBlocks, for whatever reason
			if !p.AppendAs(t, v, inner[n]) {
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
func (p *Packet) appendBlocks(t *Template, v Variant, inner [][]byte) (n int) {
	head, size := uint(t.n), uint(len(inner[0]))
	last := head + size - blockLen // block
	next := head + blockLen        // of inner contents; that end is not less lets the compiler do without checks
	end := head + size
	if size&3 != 0 { // padding
		end = head + (size+3)&^3
	}
	if head > blockLen || size < blockLen || size > 2*blockLen || last > 2*blockLen || end < next ||
		p.last || p.format != Format20 || p.n > len(p.buf) {
		return 0
	}
	b := p.buf[p.n:len(p.buf):len(p.buf)]
	if uint(len(b)) <= end {
		return 0
	}
	first := t.first | uint32(v) | uint32(end/4-1)<<16
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
