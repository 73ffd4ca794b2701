// Go twins of compare.h.

package fast

import (
	"encoding/binary"
	"math"

	"intsink/engine/event"
	"intsink/flows"
)

// The twins of compare.h.

// sameHops tells whether nodes and interfaces are those of the current path, and each
// latency within the absolute deadband; sum are the latencies.
func (t *Template) sameHops(w *flows.Flow, p *event.FastPolicy, f []byte) (sum uint64, same bool) {
	hop := f[t.stack:]
	for i := range w.Hops[:t.hops] {
		k := &w.Hops[i]
		x := binary.BigEndian.Uint32(hop[8:])
		if binary.LittleEndian.Uint32(hop) != k.Node || binary.LittleEndian.Uint32(hop[4:]) != k.Interfaces || x-k.Ref+p.Absolute > p.Twice {
			return 0, false
		}
		sum += uint64(x)
		if i+1 < int(t.hops) {
			hop = hop[t.hopLen:]
		}
	}
	return sum, true
}

// noEpisodeAt tells whether a hop reaches no threshold, and none of its queue and interface
// is in an episode. One that reaches a threshold makes it known to the packets behind.
func (t *Template) noEpisodeAt(b *event.FastView, p *event.FastPolicy, hop []byte) bool {
	const unknown = math.MaxUint32
	latency, queue, tx := binary.BigEndian.Uint32(hop[8:]), uint32(unknown), uint32(unknown)
	overQueue, overTx := latency >= p.Latency && latency != unknown, false
	if t.queue != 0 {
		queue = binary.BigEndian.Uint32(hop[t.queue:])
		overQueue = overQueue || queue&0xffffff >= p.Raise && queue != unknown
	}
	if t.tx != 0 {
		tx = binary.BigEndian.Uint32(hop[t.tx:])
		overTx = tx >= p.Tx && tx != unknown
	}
	if !overQueue && !overTx && b.Hot == 0 {
		return true
	}
	word := binary.LittleEndian.Uint64(hop)
	q, i := b.Bit(word, uint8(queue>>24)), b.Bit(word, 0)
	if overQueue {
		b.Mark(&b.Queues, q)
	}
	if overTx {
		b.Mark(&b.Interfaces, i)
	}
	return !b.Queues.Has(q) && !b.Interfaces.Has(i)
}

func (t *Template) noEpisode(b *event.FastView, p *event.FastPolicy, f []byte) bool {
	hop, none := f[t.stack:], true
	for i := range t.hops {
		none = t.noEpisodeAt(b, p, hop[i*t.hopLen:]) && none
	}
	return none
}

// linksUnchanged tells whether the latency of each link is within its deadband, and has been.
func (t *Template) linksUnchanged(s *State, p *event.FastPolicy, f []byte) bool {
	if t.ingress == 0 || t.egress == 0 {
		return true
	}
	be, none := binary.BigEndian, true
	for i := uint32(1); i < t.hops; i++ {
		next := f[t.stack+(i-1)*t.hopLen:]
		hop := next[t.hopLen:]
		in, out := be.Uint64(next[t.ingress:]), be.Uint64(hop[t.egress:])
		if in == math.MaxUint64 || out == math.MaxUint64 {
			continue
		}
		key := [2]uint64{uint64(be.Uint32(hop))<<32 | uint64(be.Uint16(hop[6:])), uint64(be.Uint32(next))<<32 | uint64(be.Uint16(next[4:]))}
		if !s.view.QuietLink(key, in-out, s.tick, p) {
			none = false
		}
	}
	return none
}

// noEvent tells whether a packet gives no event.
func (t *Template) noEvent(s *State, p *event.FastPolicy, w *flows.Flow, f []byte) bool {
	sum, same := t.sameHops(w, p, f)
	if !same {
		return false
	}
	if p.PTP {
		if t.ingress == 0 {
			return false
		}
		stamp := binary.BigEndian.Uint64(f[t.stack+(t.hops-1)*t.hopLen+uint32(t.ingress):])
		sum = uint64(s.now+s.wall-p.ClockOffset) - stamp
		if stamp == math.MaxUint64 || sum >= math.MaxUint32 {
			return false
		}
	}
	if sum-uint64(w.EndRef)+p.End > p.EndTwice {
		return false
	}
	return (!p.Fabric || t.noEpisode(s.view, p, f)) && (!p.Link || t.linksUnchanged(s, p, f))
}
