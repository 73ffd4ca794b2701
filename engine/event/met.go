// Met: which packets of the burst at hand passed a queue with an open episode.

package event

import (
	"math/bits"

	"intsink/engine/episode"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// atHand is the packet at hand, and those of the burst that met an episode. An episode that nobody records is met by none.
type atHand struct {
	size     uint32 // of the packet, without INT
	own      Observation
	met      uint64 // bit: Observation.Number of a packet that met one
	episodes [64]uint32
	packet   episode.Packet // counted
}

// Observation is room for one packet, for the caller of Packet who wants to know of Met: of the packets in it that is told.
func (d *Detector) Observation() *Observation { return &d.hand.own }

// Met tells which packets since ForgetMet was called passed a queue with an open episode: bit n is that of number n, and
// episodes[n] the number of the record, of several the last.
func (d *Detector) Met() (set uint64, episodes *[64]uint32) { return d.hand.met, &d.hand.episodes }

// HasMet tells whether there are any.
func (d *Detector) HasMet() bool { return d.hand.met != 0 }

// ForgetMet is to be called once a burst.
func (d *Detector) ForgetMet() { d.hand.met = 0 }

// FullHops are hops of a packet whose queues may be in an episode, or are over a threshold: bit i is hop i.
type FullHops uint64

// Tallied takes up the packets that package fast has added to tallies: records take some of them at once. Number n of those in which has met
// the episode of record of[n].
func (d *Detector) Tallied(drawn []episode.Drawn, flowOf *[64]*flows.Flow, keys *[64]flows.Key, which uint64, of *[64]uint32) {
	if len(drawn) > 0 {
		d.tallies.TakeDrawn(drawn, flowOf, keys)
	}
	if d.hand.met |= which; d.view.Records == 0 {
		return // nobody asks which
	}
	for ; which != 0; which &= which - 1 {
		j := bits.TrailingZeros64(which) & 63
		d.hand.episodes[j] = of[j]
	}
}

// Meet is Packet for one of a known flow that gives no event but that of a queue, and is not learned from: some hops have a
// queue that may be in an episode. size is its length without INT. Behind the last packet of its burst EndRun is to be called.
func (d *Detector) Meet(now int64, f *flows.Flow, size int, o *Observation, hops FullHops) (set Set) {
	d.Edge, d.sampling, d.hand.size = false, false, uint32(size)
	p, l, hopLen := &d.policies[f.Watch], o.Layout, int(o.Info.HopLen)
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	i := bits.TrailingZeros64(uint64(hops))
	stack = stack[min(i*hopLen, len(stack)):]
	var n hopValues
	for ; len(stack) >= hopLen && hops>>i != 0; i, stack = i+1, stack[hopLen:] {
		if hops>>i&1 == 0 {
			continue
		}
		d.readQueue(&n, stack[:hopLen], l)
		if n.NodeID != unknown32 && (n.Egress != unknown32 || !hasEgress(l)) {
			set |= d.pass(now, f, &n, &p.Thresholds)
		}
	}
	if set != 0 {
		d.Reported(now, f, set)
	}
	return set
}

// CountMarked counts a packet that some queue has marked (ECN: CE), and stands for n of them, in all queues that it says to have passed
// and that are known: each packet of whoever sends marked ones would make room for queues that are none.
func (d *Detector) CountMarked(now int64, o *Observation, n uint64) {
	l, hopLen := o.Layout, int(o.Info.HopLen)
	if !o.usable() || l.NodeID < 0 || hopLen == 0 {
		return
	}
	var hop hopValues
	for stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]; len(stack) >= hopLen; stack = stack[hopLen:] {
		d.readQueue(&hop, stack[:hopLen], l)
		if hop.NodeID == unknown32 || hop.Egress == unknown32 && hasEgress(l) {
			continue
		}
		if q := d.fabric.Queues.Find(hop.queueKey()); q != nil {
			q.Marked, q.MarkedAt = q.Marked+n, now
		}
	}
}

// ecn is the packet's ECN field.
func (o *Observation) ecn() uint8 {
	if o.Info != nil && o.Info.Format.Foreign() {
		return packet.ECN(o.Own)
	}
	return packet.ECN(o.Frame)
}

// counted is the packet at hand as the record of an episode counts it, by what hop n says: until it is called again.
func (h *atHand) counted(f *flows.Flow, n *hopValues) *episode.Packet {
	p := &h.packet
	p.Flow, p.Shares, p.Values = &f.Key, &f.Cold().Shares, h.values(n)
	return p
}

// values are those of the packet at hand by what hop n says.
func (h *atHand) values(n *hopValues) episode.Values {
	return episode.Values{Latency: n.Latency, Occupancy: n.Occupancy, Bytes: h.size, ECN: h.own.ecn()}
}

// meet notes that the packet at hand has met an episode.
func (h *atHand) meet(episode uint32) {
	n := h.own.Number & 63
	h.met |= 1 << n
	h.episodes[n] = episode
}
