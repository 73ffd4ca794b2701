package fast

import (
	"encoding/binary"
	"math"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/flows"
)

// The twins of pass.c.

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

// quietHop tells whether a hop reaches no threshold, and none of its queue and interface
// is in an episode. One that reaches a threshold makes it known to the packets behind.
func (t *Template) quietHop(b *event.FastView, p *event.FastPolicy, hop []byte) bool {
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

func (t *Template) quietHops(b *event.FastView, p *event.FastPolicy, f []byte) bool {
	hop, quiet := f[t.stack:], true
	for i := range t.hops {
		quiet = t.quietHop(b, p, hop[i*t.hopLen:]) && quiet
	}
	return quiet
}

// quietLinks tells whether the latency of each link is within its deadband, and has been.
func (t *Template) quietLinks(s *State, p *event.FastPolicy, f []byte) bool {
	if t.ingress == 0 || t.egress == 0 {
		return true
	}
	be, quiet := binary.BigEndian, true
	for i := uint32(1); i < t.hops; i++ {
		next := f[t.stack+(i-1)*t.hopLen:]
		hop := next[t.hopLen:]
		in, out := be.Uint64(next[t.ingress:]), be.Uint64(hop[t.egress:])
		if in == math.MaxUint64 || out == math.MaxUint64 {
			continue
		}
		key := [2]uint64{uint64(be.Uint32(hop))<<32 | uint64(be.Uint16(hop[6:])), uint64(be.Uint32(next))<<32 | uint64(be.Uint16(next[4:]))}
		if !s.view.QuietLink(key, in-out, s.tick, p) {
			quiet = false
		}
	}
	return quiet
}

// quiet tells whether a packet gives no event.
func (t *Template) quiet(s *State, p *event.FastPolicy, w *flows.Flow, f []byte) bool {
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
	return (!p.Fabric || t.quietHops(s.view, p, f)) && (!p.Link || t.quietLinks(s, p, f))
}

// passOne passes packet j, where it is as its flow's last one was.
func (s *State) passOne(j uint32) (passed bool) {
	w, at := s.Flows[j], s.Template[j]
	if at == None || s.look != 0 || s.keep != 0 {
		s.look = 0
		return false
	}
	if uint32(w.Watch) >= s.policies {
		return false
	}
	p, t := &s.view.Policies[w.Watch], &s.templates[at]
	if uint32(w.Generation) != s.generation || !w.Settled(p.Flags, p.Mask) || w.Held() ||
		t.hops != uint32(w.PathHops) || ^(s.refresh-w.NextRefresh)&p.Refresh != 0 {
		return false
	}
	m := s.vec[s.At[j]&(mbuf.MaxBurst-1)]
	f, size := m.Bytes(), uint16(m.PktLen()-int(t.removed))
	if f[t.flagsAt]&t.flagsMask != 0 || !t.quiet(s, p, w, f) || w.Full(size) {
		return false
	}
	w.Count(size)
	w.PathSeen = s.tick
	if p.TakeSample(s.Hashes[j]) {
		s.Samples |= 1 << j
	} else if s.strip != 0 {
		s.stripOne(m, t)
	}
	return true
}

// passGo is fast_pass.
func passGo(s *State) {
	s.deferred, s.Samples = 0, 0
	for j := range s.ints {
		w := s.Flows[j]
		if w != nil && s.passOne(j) {
			continue
		}
		if w != nil {
			w.Hold()
		}
		s.deferredAt[s.deferred] = uint8(j)
		s.deferred++
	}
}
