// Pullup, Chain, AppendTo: move and copy bytes in chains of mbufs.

package mbuf

// Pullup makes the first n bytes of the chain contiguous in its first segment
// by moving bytes forward from the following ones; segments that become empty
// stay in the chain. It returns false, with the packet's bytes as they were, where
// the chain is shorter than n or the first buffer has no room for n bytes.
func (m *Mbuf) Pullup(n int) bool {
	have := int(m.dataLen)
	if have >= n {
		return true
	}
	if n > int(m.pktLen) || n > m.Room() {
		return false
	}
	m.dataLen = uint16(n)
	dst := m.Bytes()[have:]
	for s := m.next; s != nil && len(dst) > 0; s = s.next {
		k := copy(dst, s.Bytes())
		dst = dst[k:]
		s.dataOff += uint16(k)
		s.dataLen -= uint16(k)
	}
	if len(dst) > 0 { // pkt_len promised more than the segments hold
		m.dataLen -= uint16(len(dst))
		return false
	}
	return true
}

// Chain appends the chain that tail starts to the one that m starts, which
// owns it from then on. m's lengths count it.
func (m *Mbuf) Chain(tail *Mbuf) {
	last := m
	for last.next != nil {
		last = last.next
	}
	last.next = tail
	m.nbSegs += tail.nbSegs
	m.pktLen += tail.pktLen
}

// AppendTo appends the first max bytes of the chain to dst.
func (m *Mbuf) AppendTo(dst []byte, max int) []byte {
	for s := m; s != nil && max > 0; s = s.next {
		b := s.Bytes()
		b = b[:min(len(b), max)]
		dst = append(dst, b...)
		max -= len(b)
	}
	return dst
}
