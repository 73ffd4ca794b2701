// Verifies the TCP or UDP checksum of a sampled packet, which it adds up over all buffers, and
// keeps the packets that strip made wrong.

package engine

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/internal/checksum"
)

// ChecksumState says whether the TCP or UDP checksum of a packet is right. The list is
// closed: it generates metric labels.
type ChecksumState uint8

const (
	ChecksumGood ChecksumState = iota
	ChecksumBad
	ChecksumNone // UDP without a checksum, or neither TCP nor UDP
	NumChecksumStates
)

// String is the value of the labels before and after.
func (s ChecksumState) String() string { return [NumChecksumStates]string{"good", "bad", "none"}[s] }

// picks are packets of the burst whose checksums are looked at as they came and as they
// leave: a sample, which tells an operator why hosts drop everything in silence, and those
// that are verified (verify.go).
type picks struct {
	sample, verify bool // one is due
	turn           int  // which packet of a burst is picked
	place          int  // of the sample in the burst; -1: there is none
	layers         packet.Layers
	before         ChecksumState
	verified       verified
}

// begin picks INT packets of b, which still have their INT.
func (s *picks) begin(t *turns, b *burst) {
	s.place, s.verified.n, s.verified.bad = -1, 0, nil
	n := b.fast.Len()
	if n == 0 {
		return
	}
	if s.sample {
		t.sampled(b.now)
		s.beginSample(b, uint8(s.turn%n))
		s.turn++
	}
	for k := 0; s.verify && t.verify <= 0 && k < n; k++ {
		t.verify += t.interval
		s.verified.begin(b, uint8(s.turn%n))
		s.turn++
	}
	if s.verify {
		t.verify = max(t.verify, 1-n) // what one burst had no packets for is not made up for
	}
}

// beginSample reads the checksum of packet j, if it has one that INT stands behind.
func (s *picks) beginSample(b *burst, j uint8) {
	b.complete(j)
	i := int(b.fast.At[j])
	h := &b.info[i]
	m := b.vec[i]
	if h.Depth > 0 || h.Discard || h.Edit.Has(inthdr.DropCongested) ||
		packet.Parse(m.Bytes(), m.PktLen(), &s.layers) != packet.OK || !hasChecksum(&s.layers) {
		return
	}
	s.place, s.before = i, checksumOf(m, &s.layers)
}

// end verifies and counts the picked packets, whose INT is removed now.
func (s *picks) end(b *burst, c *LinkCounters) {
	if s.verified.n > 0 {
		s.verified.end(b, c)
	}
	if s.place < 0 || b.verdict[s.place] == consumed {
		return
	}
	m, l3 := b.vec[s.place], int(s.layers.L3)
	if packet.ParseInner(m.Bytes(), l3, m.PktLen(), ipEtherType(&s.layers), &s.layers) != packet.OK {
		return
	}
	after := ChecksumNone
	if hasChecksum(&s.layers) {
		after = checksumOf(m, &s.layers)
	}
	c.Checksums[s.before][after]++
}

func ipEtherType(l *packet.Layers) uint16 {
	if l.IPVersion == 6 {
		return packet.EtherTypeIPv6
	}
	return packet.EtherTypeIPv4
}

// hasChecksum reports whether l is a whole TCP or UDP packet without options of IP: with
// those, the destination that the checksum covers may be another one (RFC 8200, 8.1).
func hasChecksum(l *packet.Layers) bool {
	if l.IPVersion == 4 && l.L4 != l.L3+20 || l.IPVersion == 6 && l.L4 != l.L3+40 {
		return false
	}
	return l.Payload != 0 && l.Fragment == packet.NotFragment
}

// checksumOf verifies the TCP or UDP checksum of the packet m, which l describes.
func checksumOf(m *mbuf.Mbuf, l *packet.Layers) ChecksumState {
	f := m.Bytes()
	end := int(l.End)
	if l.Proto == packet.ProtoUDP {
		h := f[l.L4:]
		if h[6]|h[7] == 0 {
			return ChecksumNone
		}
		n := int(binary.BigEndian.Uint16(h[4:]))
		if end = int(l.L4) + n; n < 8 || end > int(l.End) {
			return ChecksumBad
		}
	}
	addresses := f[l.L3+12:][:8]
	if l.IPVersion == 6 {
		addresses = f[l.L3+8:][:32]
	}
	s := uint32(checksum.Sum(addresses)) + uint32(l.Proto) + uint32(end-int(l.L4)) + sumRange(m, int(l.L4), end)
	for s>>16 != 0 {
		s = s>>16 + s&0xffff
	}
	if s != 0xffff {
		return ChecksumBad
	}
	return ChecksumGood
}

// sumRange is the sum of RFC 1071 over bytes [from, to) of the chain m, whose buffers
// may end at odd offsets.
func sumRange(m *mbuf.Mbuf, from, to int) (sum uint32) {
	odd := false
	for ; m != nil && to > 0; m = m.Next() {
		b := m.Bytes()
		n := len(b)
		b = b[min(from, n):min(to, n)]
		from, to = max(from-n, 0), to-n
		s := checksum.Sum(b)
		if odd { // RFC 1071, section 2(B): bytes swapped, sum swapped
			s = bits.ReverseBytes16(s)
		}
		sum += uint32(s)
		odd = odd != (len(b)&1 != 0)
	}
	return sum
}
