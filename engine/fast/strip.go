// Path.Strip, and the Go twin of strip.h and strip.c: takes INT out of a packet by its template,
// repairs lengths and checksums.

package fast

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
)

// fold is the one's complement sum of the four 16-bit words of s; zero only for zero.
func fold(s uint64) uint16 {
	t := uint32((s + bits.RotateLeft64(s, 32)) >> 32)
	return uint16((t + bits.RotateLeft32(t, 16)) >> 16)
}

// sumOf adds the words of 16 bits of b, an even number of bytes.
func sumOf(b []byte) (s uint64) {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		s += x&0xffffffff + x>>32
	}
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(binary.LittleEndian.Uint16(b))
	}
	return s
}

// strip takes INT out of the packet that starts with f, is of pktLen bytes and as t says.
// The packet then starts removed bytes further on.
func (t *Template) strip(f []byte, pktLen int) (removed int) {
	le := binary.LittleEndian
	n, gone, port := int(t.removed), uint16(0), le.Uint16(f[t.portFrom:])
	if t.sumRemoved != 0 {
		gone = fold(sumOf(f[t.start:int(t.start)+n]) + uint64(^uint32(port)&t.portMask))
	}
	copy(f[n:], f[:t.start])
	f = f[n:]
	pktLen -= n
	for _, l := range t.length[:t.lengths] {
		binary.BigEndian.PutUint16(f[l.at:], uint16(pktLen-int(l.base)))
	}
	le.PutUint16(f[t.portTo:], port)
	for _, e := range t.edit[:t.edits] {
		le.PutUint16(f[e.at:], le.Uint16(f[e.at:])&e.keep|e.value)
	}
	for i := range t.sum[:t.sums] {
		c := &t.sum[i]
		if was := le.Uint16(f[c.at:]); uint32(was)|c.always != 0 {
			is := fold(uint64(uint32(was)^c.flip) + uint64(uint32(gone)&c.removed^c.flip) + uint64(c.add))
			le.PutUint16(f[c.at:], is^uint16(c.flip))
		}
	}
	return n
}

// Strip takes INT out of the packets whose bits are set in which. All have templates. Fewer than
// four are stripped by stripGo, which saves the call into C.
func (p *Path) Strip(which uint64) {
	if p.inGo || bits.OnesCount64(which) < 4 {
		stripGo(p.State, which)
		return
	}
	p.stripC(which)
}

// stripGo is fast_strip.
func stripGo(s *State, which uint64) {
	for ; which != 0; which &= which - 1 {
		j := bits.TrailingZeros64(which)
		s.stripOne(s.vec[s.At[j]&(mbuf.MaxBurst-1)], &s.templates[s.Template[j]])
	}
}

func (s *State) stripOne(m *mbuf.Mbuf, t *Template) { m.Adj(t.strip(m.Bytes(), m.PktLen())) }
