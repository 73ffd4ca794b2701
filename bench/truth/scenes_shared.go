package truth

import (
	"slices"

	"intsink/engine/wire/intgen"
)

// crowd returns flows that share a path of their own; each has sent its first packet.
func (p *player) crowd(watch, n int) ([]*Flow, []intgen.Hop) {
	hops, flows := p.own(3), make([]*Flow, n)
	for i := range hops {
		hops[i].QueueOccupancy, hops[i].TxUtilization = 100, 10
	}
	for i := range flows {
		flows[i] = p.flow(watch)
		p.first(flows[i], hops)
		p.gap(ms, 50*ms)
	}
	return flows, hops
}

// any sends n packets, each of a random one of the flows.
func (p *player) any(n int, low, high int64, flows []*Flow, hops []intgen.Hop, each func(*Packet)) {
	for range n {
		k := p.send(flows[p.IntN(len(flows))], hops)
		if each != nil {
			each(k)
		}
		p.gap(low, high)
	}
}

func occupied(hops []intgen.Hop, occupancy uint32) []intgen.Hop {
	hops = slices.Clone(hops)
	hops[1].QueueOccupancy = occupancy
	return hops
}

func congested(k *Packet) { k.plan(Congestion) }

// evidence is for packets of an episode, all as bad, from the n-th over the threshold on: the quota of 5 is for the 1st, 2nd, 4th,
// 8th and 16th.
func evidence(n int) func(*Packet) {
	return func(k *Packet) {
		if slices.Contains([]int{1, 2, 4, 8, 16}, n) {
			k.plan(Congestion)
		}
		n++
	}
}

// congestionNumbered is an episode of a queue whose flows number their packets, most of them below the threshold: none is lost, then
// some of each flow.
func congestionNumbered(p *player) {
	flows, hops := p.crowd(WatchDC, 3)
	next := map[*Flow]uint32{}
	numbered := func(k *Packet) {
		n := next[k.Flow]
		k.Sequence, next[k.Flow] = &n, n+1
	}
	p.any(9, ms, 20*ms, flows, hops, numbered)
	p.any(1, ms, 20*ms, flows, occupied(hops, 8000), func(k *Packet) { numbered(k); congested(k) })
	p.any(60, ms, 20*ms, flows, occupied(hops, 7999), numbered)
	for i, f := range flows {
		next[f] += 3
		p.any(1, ms, 20*ms, flows[i:i+1], occupied(hops, 7999), func(k *Packet) { numbered(k); k.plan(Loss) })
	}
	p.any(60, ms, 20*ms, flows, occupied(hops, 7999), numbered)
}

// congestion begins, wavers around the threshold and ends, seen by four flows.
func congestion(p *player) {
	flows, hops := p.crowd(WatchDC, 4)
	for range 3 {
		p.any(5, ms, 20*ms, flows, occupied(hops, 7999), nil)
		p.any(10, ms, 20*ms, flows, occupied(hops, 8000+uint32(p.IntN(1000))), evidence(1))
		p.any(5, ms, 20*ms, flows, occupied(hops, 7999), nil)
		p.any(5, ms, 20*ms, flows, occupied(hops, 9000), evidence(11))
		p.any(5, ms, 20*ms, flows, occupied(hops, 4001), nil)
		other := occupied(hops, 9000)
		other[1].QueueID++
		p.any(3, ms, 20*ms, flows, other, evidence(1)) // another queue
		other = occupied(other, 0)
		p.any(1, ms, 20*ms, flows, other, congested)
		p.any(1, ms, 20*ms, flows, occupied(hops, 4000), congested) // ends the episode
		p.any(9, ms, 20*ms, flows, occupied(hops, 3000), nil)
	}
}

// congestionQuota lasts for more packets than are reported of one episode.
func congestionQuota(p *player) {
	flows, hops := p.crowd(WatchDC, 3)
	for range 2 {
		p.any(20, ms, 5*ms, flows, occupied(hops, 8500), evidence(1))
		p.any(20, ms, 5*ms, flows, occupied(hops, 20_000), nil)
		p.any(1, ms, 5*ms, flows, occupied(hops, 10), congested)
		p.any(5, ms, 5*ms, flows, occupied(hops, 10), nil)
	}
}

// congestionTimeout sends no packet of the queue for a second: the episode ends without a report.
func congestionTimeout(p *player) {
	flows, hops := p.crowd(WatchDC, 2)
	p.any(3, ms, 5*ms, flows, occupied(hops, 8500), evidence(1))
	p.gap(800*ms, 900*ms)
	p.any(2, ms, 5*ms, flows, occupied(hops, 5000), nil)
	p.gap(1100*ms, 1500*ms)
	p.any(3, ms, 5*ms, flows, occupied(hops, 10), nil)
	p.any(3, ms, 5*ms, flows, occupied(hops, 8500), evidence(1))
	p.gap(1100*ms, 1500*ms)
	p.any(20, ms, 5*ms, flows, occupied(hops, 8500), evidence(1)) // a new episode with a new quota
	p.any(20, ms, 5*ms, flows, occupied(hops, 8500), nil)
}

// congestionFirst begins an episode with the first packet of a flow, which moves the queue's
// state but gives no report.
func congestionFirst(p *player) {
	flows, hops := p.crowd(WatchDC, 2)
	f := p.flow(WatchDC)
	p.first(f, occupied(hops, 9000))
	p.gap(ms, 5*ms)
	p.any(20, ms, 5*ms, append(flows, f), occupied(hops, 8500), evidence(2))
	p.any(20, ms, 5*ms, flows, occupied(hops, 8500), nil)
	p.any(1, ms, 5*ms, flows, occupied(hops, 10), congested)
}

// congestionLatency has a watch that takes a long hop latency for congestion.
func congestionLatency(p *player) {
	flows, hops := p.crowd(WatchPTP, 2)
	for i := range hops {
		hops[i].QueueOccupancy = 0
	}
	for range 2 {
		p.any(5, ms, 20*ms, flows, set(hops, 1, 499_999), nil)
		p.any(5, ms, 20*ms, flows, set(hops, 1, 500_000), evidence(1))
		p.any(5, ms, 20*ms, flows, set(hops, 1, 250_000), nil)
		p.any(1, ms, 20*ms, flows, set(hops, 1, 249_999), congested)
		p.any(5, ms, 20*ms, flows, set(hops, 1, 100_000), nil)
	}
}

func busy(hops []intgen.Hop, tx uint32) []intgen.Hop {
	hops = slices.Clone(hops)
	hops[1].TxUtilization = tx
	return hops
}

// txUtilization is reported once, and again after it was low for five seconds.
func txUtilization(p *player) {
	flows, hops := p.crowd(WatchDC, 3)
	enter := func() { p.any(1, 50*ms, 300*ms, flows, busy(hops, 90), func(k *Packet) { k.plan(TxUtilization) }) }
	p.any(5, 50*ms, 300*ms, flows, busy(hops, 89), nil)
	for range 2 {
		enter()
		p.any(10, 50*ms, 300*ms, flows, busy(hops, 95), nil)
		p.any(12, 200*ms, 300*ms, flows, busy(hops, 75), nil) // less than four seconds
		p.any(10, 50*ms, 300*ms, flows, busy(hops, 95), nil)
		p.any(10, 50*ms, 300*ms, flows, busy(hops, 76), nil)
		p.any(20, 300*ms, 400*ms, flows, busy(hops, 75), nil)
	}
	p.any(5, 50*ms, 300*ms, flows, busy(hops, unknown32), nil)
	enter()
	f := p.flow(WatchDC) // an interface that is busy from a flow's first packet on
	hops = p.own(3)
	p.first(f, busy(hops, 95))
	for range 5 {
		p.gap(ms, 100*ms)
		p.send(f, busy(hops, 95))
	}
}

// link has a link that takes longer, seen by several flows together.
func link(p *player) {
	flows, hops := p.crowd(WatchDC, 3)
	pass := func(n int, d int64) (last *Packet) {
		for range n {
			p.gap(5*ms, 30*ms)
			last = p.sendStamped(flows[p.IntN(len(flows))], hops, d)
		}
		return last
	}
	pass(3, 1000)
	for range 2 {
		pass(5, 11_000) // at the edge of the deadband
		p.wait(1100 * ms)
		pass(2, 12_000).plan(LinkLatency)
		pass(5, 13_000)
		p.wait(1100 * ms)
		pass(2, 1000).plan(LinkLatency)
	}
	pass(2, 30_000) // within the interval: not reported
	pass(3, 30_000)
	p.wait(1100 * ms)
	pass(1, 30_000).plan(LinkLatency)
}

// linkSkew has clocks that disagree, and nodes without one.
func linkSkew(p *player) {
	flows, hops := p.crowd(WatchDC, 2)
	for i := range 40 {
		p.gap(20*ms, 100*ms)
		d := int64(1000)
		if i > 0 && p.IntN(3) == 0 {
			d = -50_000
		}
		k := p.sendStamped(flows[p.IntN(2)], hops, d)
		switch p.IntN(4) {
		case 0:
			k.Hops[1].EgressTimestamp = unknown64
		case 1:
			k.Hops[1].IngressTimestamp = unknown64
		}
	}
}

// congestionBoth is an episode by occupancy and by latency: it lasts until both are below
// their thresholds.
func congestionBoth(p *player) {
	flows, hops := p.crowd(WatchWAN, 2)
	late := func(occupancy uint32, latency int64) []intgen.Hop { return set(occupied(hops, occupancy), 1, latency) }
	for range 2 {
		p.any(3, ms, 20*ms, flows, late(8000, 5000), evidence(1))
		p.any(3, ms, 20*ms, flows, late(4001, 5000), nil)
		p.any(3, ms, 20*ms, flows, late(10, 2_000_000), evidence(4))
		p.any(3, ms, 20*ms, flows, late(10, 1_000_000), nil)
		p.any(3, ms, 20*ms, flows, late(5000, 999_999), nil)
		p.any(1, ms, 20*ms, flows, late(4000, 999_999), congested)
		p.any(3, ms, 20*ms, flows, late(4000, 1_999_999), nil)
	}
}

// congestionUnknown has nodes that do not always know their queue or interfaces, and
// new flows on the way.
func congestionUnknown(p *player) {
	flows, hops := p.crowd(WatchDC, 2)
	for range 60 {
		h := occupied(hops, uint32(p.IntN(16_000)))
		switch p.IntN(6) {
		case 0:
			h[1].QueueID, h[1].QueueOccupancy = 0xff, unknown32
		case 1:
			h[1].Ingress, h[1].Egress = unknown16, unknown16
		case 2:
			p.first(p.flow(WatchDC), h)
			continue
		}
		p.any(1, ms, 20*ms, flows, h, nil)
	}
}

// txInterval1 rises more often than once a second: what is withheld stays pending.
func txInterval1(p *player) {
	flows, hops := p.crowd(WatchWAN, 2)
	for range 5 {
		p.any(3, 50*ms, 80*ms, flows, busy(hops, 95), nil)
		p.any(8, 40*ms, 50*ms, flows, busy(hops, 20), nil)
	}
	p.any(10, 150*ms, 200*ms, flows, busy(hops, 92), nil)
}
