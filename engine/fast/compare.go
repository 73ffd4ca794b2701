// Go twin of compare.h: whether a packet gives an event, by the hops, queues, interfaces and links
// that its flow and the fabric know.

package fast

import (
	"encoding/binary"
	"math"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/flows"
)

// The twins of compare.h.

// sameHops reports whether nodes and interfaces equal those of the current path and each latency
// is within the absolute deadband; sum is the sum of the latencies.
func (t *Template) sameHops(w *flows.Flow, p *event.FastPolicy, f []byte) (sum uint64, same bool) {
	hop := f[t.stack:]
	for i := range w.Hops[:t.hops] {
		k := &w.Hops[i]
		x := binary.BigEndian.Uint32(hop[latencyAt:])
		if binary.LittleEndian.Uint32(hop) != k.Node || binary.LittleEndian.Uint32(hop[4:]) != k.Interfaces || !event.Within(x, k.Ref, p.Absolute) {
			return 0, false
		}
		sum += uint64(x)
		if i+1 < int(t.hops) {
			hop = hop[t.hopLen:]
		}
	}
	return sum, true
}

// markThresholds makes queues and interfaces that reach a threshold known to the packets
// behind, and tells whether there are any: unknown values, all ones, reach none.
func (t *Template) markThresholds(b *event.FastView, p *event.FastPolicy, f []byte) (any bool) {
	const unknown = math.MaxUint32
	for i := range uint32(t.allHops) {
		hop := f[t.stack+i*t.hopLen:]
		latency, queue, tx := binary.BigEndian.Uint32(hop[latencyAt:]), uint32(unknown), uint32(unknown)
		if t.queue != 0 {
			queue = binary.BigEndian.Uint32(hop[t.queue:])
		}
		if t.tx != 0 {
			tx = binary.BigEndian.Uint32(hop[t.tx:])
		}
		occupancy := queue & inthdr.UnknownOccupancy
		ofLatency, ofQueue := b.Units(binary.BigEndian.Uint32(hop))
		if latency != unknown && event.Multiply(latency, ofLatency) >= p.Latency || occupancy != inthdr.UnknownOccupancy && event.Multiply(occupancy, ofQueue) >= p.Raise {
			b.MarkQueue(b.Bit(binary.LittleEndian.Uint64(hop), uint8(queue>>24)))
			any = true
		}
		if tx >= p.Tx && tx != unknown {
			b.MarkInterface(b.Bit(binary.LittleEndian.Uint64(hop), 0))
			any = true
		}
	}
	return any
}

// noEpisode tells whether none of a packet's queues and interfaces is in an episode that the packet
// can count for.
func (t *Template) noEpisode(b *event.FastView, p *event.FastPolicy, f []byte) bool {
	queues, interfaces := b.Filters(p, t.queue != 0, t.tx != 0)
	if !queues && !interfaces {
		return true
	}
	for i := range uint32(t.allHops) {
		hop, queue := f[t.stack+i*t.hopLen:], uint8(math.MaxUint8)
		if t.queue != 0 {
			queue = hop[t.queue]
		}
		word := binary.LittleEndian.Uint64(hop)
		if queues && b.Queues.Has(b.Bit(word, queue)) || interfaces && b.Interfaces.Has(b.Bit(word, 0)) {
			return false
		}
	}
	return true
}

// linksUnchanged tells whether the latency of each link is within its deadband, and has been.
func (t *Template) linksUnchanged(s *State, p *event.FastPolicy, f []byte) bool {
	if t.links == 0 {
		return t.narrow == 0
	}
	be, unchanged := binary.BigEndian, true
	for i := uint32(1); i < uint32(t.allHops); i++ {
		next := f[t.stack+(i-1)*t.hopLen:]
		hop := next[t.hopLen:]
		in, out := be.Uint64(next[t.ingress:]), be.Uint64(hop[t.egress:])
		if in == math.MaxUint64 || out == math.MaxUint64 {
			continue
		}
		if !s.view.LinkUnchanged([2]uint64{be.Uint64(hop) &^ 0xffff0000, be.Uint64(next) &^ 0xffff}, in-out, s.tick, p) {
			unchanged = false
		}
	}
	return unchanged
}

// stamped is the time from the source to here; all ones where it cannot be told.
func (t *Template) stamped(s *State, p *event.FastPolicy, f []byte) uint64 {
	if t.ingress == 0 {
		return math.MaxUint64
	}
	stamp := binary.BigEndian.Uint64(f[t.stack+uint32(t.allHops-1)*t.hopLen+uint32(t.ingress):])
	ns := uint64(s.now+s.wall-p.ClockOffset) - stamp
	if stamp == math.MaxUint64 || ns >= math.MaxUint32 {
		return math.MaxUint64
	}
	return ns
}

// noEvent tells whether a packet gives no event.
func (t *Template) noEvent(s *State, p *event.FastPolicy, w *flows.Flow, f []byte) bool {
	sum, same := t.sameHops(w, p, f)
	if !same {
		return false
	}
	if p.PTP {
		if sum = t.stamped(s, p, f); sum == math.MaxUint64 {
			return false
		}
	}
	if sum-uint64(w.EndRef)+p.End > p.EndTwice {
		return false
	}
	if p.Fabric && (t.markThresholds(s.view, p, f) || s.view.Hot != 0 && !t.noEpisode(s.view, p, f)) {
		return false
	}
	return !p.Link || t.linksUnchanged(s, p, f)
}
