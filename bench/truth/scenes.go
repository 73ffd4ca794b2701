package truth

import "intsink/engine/wire/intgen"

// scene is a story of one flow or a few.
type scene struct {
	name   string
	weight int // how often it is drawn, relative to the others
	quiet  bool
	play   func(*player)
}

// catalog has the scenes whose flows share no queue, interface or link with others.
var catalog = []scene{
	{"mouse", 60, true, mouse},
	{"steady", 12, true, steady},
	{"noise", 4, true, noise},
	{"spikes", 3, true, spikes},
	{"step", 6, false, step},
	{"step_wan", 2, false, stepWAN},
	{"pending", 2, false, pending},
	{"drift", 1, false, drift},
	{"unknown", 2, true, unknown},
	{"path", 3, false, path},
	{"path_memory", 1, false, pathMemory},
	{"path_rate", 1, false, pathRate},
	{"ecmp", 3, true, ecmp},
	{"sprayed", 3, false, sprayed},
	{"sprayed_wide", 1, false, sprayedWide},
	{"flap", 1, true, flap},
	{"ecmp_reported", 1, false, ecmpReported},
	{"no_evidence", 2, false, noEvidence},
	{"end_to_end", 2, false, endToEnd},
	{"end_to_end_ptp", 2, false, endToEndPTP},
	{"flags", 2, false, flags},
	{"idle", 2, true, idle},
	{"closing", 3, true, closing},
	{"reborn", 1, true, reborn},
	{"no_int", 1, true, noINT},
	{"sampled", 3, true, sampled},
	{"sampled_flow", 3, true, sampledFlow},
	{"loss", 3, false, loss},
	{"reordered", 2, true, reordered},
	{"restart", 1, true, restart},
	{"lost_at_the_end", 1, false, lostAtTheEnd},
	{"numberless", 1, true, numberless},
	{"wrap", 1, true, wrap},
	{"refused", 2, false, refused},
	{"odd", 2, false, odd},
	{"plain", 1, false, plainTraffic},
	{"ends", 2, true, ends},
	{"reset", 1, true, reset},
	{"random", 4, false, random},
}

// shared has the scenes about queues, interfaces and links that several flows share.
var shared = []scene{
	{"congestion", 0, false, congestion},
	{"congestion_numbered", 0, false, congestionNumbered},
	{"congestion_quota", 0, false, congestionQuota},
	{"congestion_timeout", 0, false, congestionTimeout},
	{"congestion_first", 0, false, congestionFirst},
	{"congestion_latency", 0, false, congestionLatency},
	{"congestion_both", 0, false, congestionBoth},
	{"congestion_unknown", 0, false, congestionUnknown},
	{"tx", 0, false, txUtilization},
	{"tx_interval", 0, false, txInterval1},
	{"link", 0, false, link},
	{"link_skew", 0, true, linkSkew},
}

var flood = scene{"flood", 0, true, func(p *player) {
	c := p.trace.config
	hops := p.fabric(3)
	start := p.at
	for range c.Flood {
		p.at = start + p.Int64N(int64(c.Burst))
		p.first(p.flow(WatchDC), hops)
	}
}}

// mouse is what most flows are: a few packets in a short time.
func mouse(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(2+p.IntN(3))
	p.first(f, hops)
	for range 1 + p.IntN(5) {
		p.gap(ms, 500*ms)
		p.send(f, hops)
	}
}

// steady has latencies that jitter inside the deadband, its edges included, for some refreshes.
func steady(p *player) {
	hops := p.fabric(1 + p.IntN(4))
	f, base := p.flow(WatchDC), make([]int64, len(hops))
	for i := range hops {
		base[i] = 10_000 + p.Int64N(20_000)
		hops[i].LatencyNs = uint32(base[i])
	}
	p.first(f, hops)
	for range 100 + p.IntN(200) {
		p.gap(10*ms, 200*ms)
		for i := range hops {
			hops[i].LatencyNs = uint32(base[i] - 10_000 + p.Int64N(20_001))
		}
		if p.IntN(10) == 0 {
			i := p.IntN(len(hops))
			hops[i].LatencyNs = uint32(base[i] + 10_000) // the edge of the deadband
		}
		p.send(f, hops)
	}
}

// noise has normally distributed latencies, with a deadband of ten standard deviations.
func noise(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(4)
	p.first(f, hops)
	for range 300 {
		p.gap(ms, 100*ms)
		for i := range hops {
			hops[i].LatencyNs = uint32(max(0, 8000+p.NormFloat64()*1000))
			hops[i].QueueOccupancy = uint32(max(0, min(3900, 1500+p.NormFloat64()*500)))
			hops[i].TxUtilization = uint32(max(0, min(74, 40+p.NormFloat64()*10)))
		}
		p.send(f, hops)
	}
}

// spikes sends single packets far outside of the deadband: fewer than K of N.
func spikes(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for range 20 {
		for range 3 + p.IntN(5) {
			p.gap(ms, 50*ms)
			p.send(f, hops)
		}
		p.gap(ms, 50*ms)
		p.send(f, set(hops, p.IntN(3), 15_001+p.Int64N(20_000)))
		p.gap(ms, 50*ms)
		p.others(3, ms, f, hops)
	}
}

// closing ends with FIN and then sends no packet.
func closing(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	f.TCP = true
	p.first(f, hops)
	for range p.IntN(20) {
		p.gap(ms, 300*ms)
		p.send(f, hops)
	}
	p.gap(ms, 300*ms)
	p.send(f, hops).Closing = true
	p.gap(ms, 1500*ms)
	p.send(f, hops).Closing = true
}

// reset sends RST and then more packets: the flow ends only when it is silent.
func reset(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	f.TCP = true
	p.first(f, hops)
	for range 2 {
		p.gap(ms, 300*ms)
		p.send(f, hops).Reset = true
		for range 3 {
			p.gap(s, 1900*ms)
			p.send(f, hops)
		}
	}
}

// idle is silent for nearly as long as a flow may be without ending.
func idle(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	p.first(f, hops)
	for range 3 {
		p.gap(25*s, 29*s)
		p.send(f, hops)
	}
}

// reborn sends packets again after its end, as a new flow.
func reborn(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	for range 3 {
		p.first(f, hops)
		p.gap(ms, s)
		p.send(f, hops)
		p.gap(40*s, 60*s)
	}
}

// noINT is traffic that the sink only forwards.
func noINT(p *player) {
	f := p.flow(WatchDC)
	for range 20 {
		p.send(f, nil).NoINT = true
		p.gap(ms, s)
	}
}

func sampled(p *player)     { watched(p, WatchPackets) }
func sampledFlow(p *player) { watched(p, WatchFlows) }

func watched(p *player, watch int) {
	f, hops := p.flow(watch), p.fabric(3)
	p.first(f, hops)
	for range 10 + p.IntN(30) {
		p.gap(ms, 100*ms)
		p.send(f, hops)
	}
}

// flags sets E and M, keeps them, and sets them again after ten seconds without. Flags of the first
// packet are not reported.
func flags(p *player) {
	f, hops := p.flow(WatchDC), p.fabric(3)
	raise := []struct {
		event string
		set   func(*Packet)
	}{{HopLimit, func(k *Packet) { k.E = true }}, {MTUExceeded, func(k *Packet) { k.M = true }}}
	p.first(f, hops)
	for range 3 {
		for _, flag := range raise {
			p.gap(ms, s)
			k := p.send(f, hops)
			flag.set(k)
			k.plan(flag.event)
		}
		for range 30 {
			p.gap(ms, 300*ms)
			raise[p.IntN(2)].set(p.send(f, hops))
		}
		for range 11 {
			p.wait(s)
			p.send(f, hops)
		}
	}
	g := p.flow(WatchDC)
	k := p.first(g, hops)
	k.E, k.M = true, true
	for range 10 {
		p.gap(ms, 300*ms)
		k := p.send(g, hops)
		k.E, k.M = true, true
	}
}

// random changes all values at random, on nodes of its own: it plants no event, so that only the
// model says what to expect.
func random(p *player) {
	f, hops := p.flow(p.IntN(3)), p.own(1+p.IntN(5))
	p.first(f, hops)
	for range 200 {
		p.gap(ms, []int64{20 * ms, 200 * ms, 800 * ms}[p.IntN(3)])
		p.disturb(hops)
		k := p.send(f, hops)
		k.M, k.E, k.Refused, k.Foreign = p.IntN(100) == 0, p.IntN(100) == 0, p.IntN(50) == 0, p.IntN(100) == 0
	}
}

func (p *player) disturb(hops []intgen.Hop) {
	for i := range hops {
		h := &hops[i]
		switch p.IntN(24) {
		case 11:
			h.Ingress = unknown16
		case 12:
			h.Egress = unknown16
		case 13:
			h.QueueOccupancy = unknown24 // of a queue that is known
		case 14:
			h.QueueID = 0xff // may well be a queue
		case 0:
			h.Ingress, h.Egress = uint16(1+p.IntN(4)), uint16(2+p.IntN(2))
		case 1, 2, 3:
			h.LatencyNs = uint32(p.IntN(40_000))
		case 4:
			h.LatencyNs = uint32(p.IntN(1_000_000))
		case 5:
			h.LatencyNs = unknown32
		case 6, 7:
			h.QueueID, h.QueueOccupancy = uint8(p.IntN(2)), uint32(p.IntN(12_000))
		case 8:
			h.QueueID, h.QueueOccupancy = 0xff, unknown32 // both are unknown: one word of all ones
		case 9:
			h.TxUtilization = unknown32
		case 10:
			h.TxUtilization = uint32(p.IntN(100))
		}
	}
}
