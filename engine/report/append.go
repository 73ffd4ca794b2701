// AppendAs: appends one report by a report template, in any format, and writes its inner contents
// and their lengths.

package report

import "encoding/binary"

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

// length is the first word of a 2.0 report of so many bytes by t. One of 255 words or more is
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
		moveBlock((*[blockLen]byte)(b), (*[blockLen]byte)(t.b[:])) // inner is more than what it takes too much
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
