// Chooses one INT packet in so many, and has its checksums verified as it came and as it leaves.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// Verification is what came out where the checksums of a packet were verified after its INT
// was removed. The list is closed: it generates metric labels.
type Verification uint8

const (
	VerifiedGood Verification = iota // every checksum of a header in front of INT is right
	VerifiedBad                      // one is wrong that was right as the packet came
	Unverifiable                     // there is none, or one was wrong or could not be read as the packet came
	NumVerifications
)

// String is the value of the result label.
func (v Verification) String() string {
	return [NumVerifications]string{"good", "bad", "unverifiable"}[v]
}

// verified are the packets of a burst that are verified: their IPv4 headers, and TCP or UDP
// in them, of the packet and of the tunnels around it, as far as INT.
type verified struct {
	n    int
	all  [mbuf.MaxBurst]verifiedPacket
	room packet.Layers
	bad  *flows.Key // of the last bad one of the burst; nil: there was none
}

// BadPacket is an INT packet whose checksum was right as it came, and wrong as it left.
type BadPacket struct {
	Time int64 // Unix nanoseconds of the worker's clock; 0: there was none
	Link int
	Flow flows.Key
}

// LastBad is the last packet that verification found bad. Safe from any goroutine.
func (w *Worker) LastBad() BadPacket {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastBad
}

// noteBad keeps the last bad packet of the burst, unless somebody looks there now.
func (w *Worker) noteBad(p *linkState, b *burst) {
	if !w.mu.TryLock() {
		return
	}
	w.lastBad = BadPacket{Time: b.now, Flow: *w.picks.verified.bad}
	for i := range w.links {
		if &w.links[i] == p {
			w.lastBad.Link = i
		}
	}
	w.mu.Unlock()
}

type verifiedPacket struct {
	i, j   int
	depth  int
	l3     [inthdr.MaxDepth + 1]uint16 // where the IP headers stand, which stripping leaves
	v6     [inthdr.MaxDepth + 1]bool
	was    ChecksumState // as it came
	hidden bool          // what stands there after stripping was behind INT before
}

// begin reads the checksums of packet j, which has its INT.
func (v *verified) begin(b *burst, j uint8) {
	b.complete(j)
	i := int(b.fast.At[j])
	h, m := &b.info[i], b.vec[i]
	if b.verdict[i] == consumed || h.Discard || h.Edit.Has(inthdr.DropCongested) {
		return
	}
	x := &v.all[v.n]
	*x = verifiedPacket{i: i, j: int(j), depth: int(h.Depth), was: ChecksumNone, hidden: h.NPT == 2 || h.Marking == inthdr.ByGRE && h.Inserted}
	for d := range x.depth + 1 {
		l := &b.layers[i]
		if d < x.depth {
			l = &b.outers[i][d]
		}
		x.l3[d], x.v6[d] = l.L3, l.IPVersion == 6
		x.was = worse(x.was, layerState(m, l))
	}
	v.n++
}

// end counts the packets, which have lost their INT.
func (v *verified) end(b *burst, c *LinkCounters) {
	v.bad = nil
	for k := range v.n {
		x := &v.all[k]
		if b.verdict[x.i] == consumed {
			continue
		}
		r := v.result(b.vec[x.i], x)
		c.Verified[r]++
		if r == VerifiedBad {
			v.bad = &b.fast.Keys[x.j]
		}
	}
}

// result compares a packet as it is now with what it was.
func (v *verified) result(m *mbuf.Mbuf, x *verifiedPacket) Verification {
	now := ChecksumNone
	for d := range x.depth + 1 {
		etherType := uint16(packet.EtherTypeIPv4)
		if x.v6[d] {
			etherType = packet.EtherTypeIPv6
		}
		if packet.ParseInner(m.Bytes(), int(x.l3[d]), m.PktLen(), etherType, &v.room) != packet.OK {
			if x.hidden {
				return Unverifiable
			}
			return VerifiedBad // it was an IP packet before
		}
		now = worse(now, layerState(m, &v.room))
	}
	switch {
	case now == ChecksumGood:
		return VerifiedGood
	case now == ChecksumBad && x.was != ChecksumBad && !x.hidden:
		return VerifiedBad
	}
	return Unverifiable
}

// worse is what two checksums amount to: bad where one is, good where one is and none is bad.
func worse(a, b ChecksumState) ChecksumState {
	if a == ChecksumBad || b == ChecksumBad {
		return ChecksumBad
	}
	return min(a, b)
}

// layerState is what the checksums of one IP header, and of the TCP or UDP header behind it,
// amount to.
func layerState(m *mbuf.Mbuf, l *packet.Layers) ChecksumState {
	s := ChecksumNone
	if l.IPVersion == 4 {
		s = ChecksumGood
		if sumRange(m, int(l.L3), int(l.L3)+int(m.Bytes()[l.L3]&0xf)*4)%0xffff != 0 {
			s = ChecksumBad
		}
	}
	if hasChecksum(l) {
		s = worse(s, checksumOf(m, l))
	}
	return s
}
