package engine

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
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

// One INT packet in checksumPackets is a sample, and one a second where there are fewer.
const (
	checksumPackets  = 1024
	checksumInterval = 1e9
)

// checksumSample compares the checksum that an INT packet came with to the one that it
// leaves with: what an operator has to know where hosts drop everything in silence.
type checksumSample struct {
	left   int   // INT packets until the next sample
	next   int64 // when the next sample is due all the same
	turn   int   // samples so far
	place  int   // of the packet in the burst
	layers packet.Layers
	before ChecksumState
}

// due reports whether an INT packet of the burst at hand is to be a sample.
func (s *checksumSample) due(now int64) bool { return s.left <= 0 || now >= s.next }

// count counts n INT packets.
func (s *checksumSample) count(n int) { s.left -= n }

// begin reads the checksum of an INT packet of b, which still has its INT. It returns
// false where the packet has none that INT stands behind.
//
//go:noinline
func (s *checksumSample) begin(b *burst) bool {
	s.left, s.next = checksumPackets, b.now+checksumInterval
	j := uint8(s.turn % b.fast.Len())
	s.turn++
	b.complete(j)
	i := int(b.fast.At[j])
	h := &b.info[i]
	m := b.vec[i]
	if h.Depth > 0 || h.Discard || h.Edit.Has(inthdr.DropCongested) ||
		packet.Parse(m.Bytes(), m.PktLen(), &s.layers) != packet.OK || !hasChecksum(&s.layers) {
		return false
	}
	s.place, s.before = i, checksumOf(m, &s.layers)
	return true
}

// end counts the sample, whose INT is gone.
//
//go:noinline
func (s *checksumSample) end(b *burst, c *LinkCounters) {
	m, l3, etherType := b.vec[s.place], int(s.layers.L3), uint16(packet.EtherTypeIPv4)
	if s.layers.IPVersion == 6 {
		etherType = packet.EtherTypeIPv6
	}
	if b.verdict[s.place] == consumed || packet.ParseInner(m.Bytes(), l3, m.PktLen(), etherType, &s.layers) != packet.OK {
		return
	}
	after := ChecksumNone
	if hasChecksum(&s.layers) {
		after = checksumOf(m, &s.layers)
	}
	c.Checksums[s.before][after]++
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
	s := uint32(packet.Sum(addresses)) + uint32(l.Proto) + uint32(end-int(l.L4)) + sumRange(m, int(l.L4), end)
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
		s := packet.Sum(b)
		if odd { // RFC 1071, section 2(B): bytes swapped, sum swapped
			s = bits.ReverseBytes16(s)
		}
		sum += uint32(s)
		odd = odd != (len(b)&1 != 0)
	}
	return sum
}
