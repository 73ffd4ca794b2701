package truth

import (
	"math/rand/v2"
	"slices"
	"time"

	"intsink/engine/wire/intgen"
)

const (
	us = int64(time.Microsecond)
	ms = int64(time.Millisecond)
	s  = int64(time.Second)
)

// Ids of nodes: below ownNodes the nodes of the fabric, which all flows share, above it those
// that only one scene uses.
const (
	fabricNodes = 64
	ownNodes    = 1 << 16
)

// player writes the packets of one scene.
type player struct {
	*rand.Rand
	trace   *Trace
	at      int64
	name    string
	quiet   bool
	packets []*Packet
}

// flow returns a new flow of the watch; one in eight is IPv6, one in four TCP.
func (p *player) flow(watch int) *Flow {
	p.trace.flows++
	return &Flow{
		ID: p.trace.flows, Watch: watch, Port: uint16(1024 + p.IntN(60000)),
		V6: p.IntN(8) == 0, TCP: p.IntN(4) == 0,
	}
}

// fabric returns a path of n nodes that other flows use, too. Its packets carry no timestamps,
// because flows do not agree on the latencies of its links.
func (p *player) fabric(n int) []intgen.Hop {
	hops := make([]intgen.Hop, n)
	for i, node := range p.Perm(fabricNodes)[:n] {
		hops[i] = p.hop(uint32(1000 + node))
		hops[i].Ingress, hops[i].Egress = uint16(1+p.IntN(16)), uint16(1+p.IntN(16))
	}
	return hops
}

// own returns a path of n nodes that no other scene uses.
func (p *player) own(n int) []intgen.Hop {
	hops := make([]intgen.Hop, n)
	for i := range hops {
		p.trace.nodes++
		hops[i] = p.hop(p.trace.nodes)
	}
	return hops
}

func (p *player) hop(node uint32) intgen.Hop {
	return intgen.Hop{
		NodeID: node, Ingress: 1, Egress: 2, LatencyNs: 5000,
		QueueID: uint8(p.IntN(8)), QueueOccupancy: uint32(p.IntN(1000)), TxUtilization: uint32(p.IntN(50)),
	}
}

// send adds a packet of f on hops, which it copies, and lets a moment pass.
func (p *player) send(f *Flow, hops []intgen.Hop) *Packet {
	k := &Packet{
		Time: p.at, Flow: f, Hops: slices.Clone(hops), Bitmap: intgen.DefaultBitmap,
		Scene: p.name, Quiet: p.quiet,
	}
	p.packets = append(p.packets, k)
	p.at += 1 + p.Int64N(us)
	return k
}

// first sends a flow's first packet. It plans new_flow, and flow_end for later.
func (p *player) first(f *Flow, hops []intgen.Hop) *Packet {
	k := p.send(f, hops)
	k.plan(FlowEnd)
	if !p.flooding() {
		k.plan(NewFlow)
	}
	return k
}

func (p *player) flooding() bool { return p.name == "flood" }

// wait moves the time by d and up to a thousandth more, so that no packet is exactly on the edge
// of a limit by accident.
func (p *player) wait(d int64) { p.at += d + p.Int64N(d/1000+1) }

// gap moves the time by a random span from low to high.
func (p *player) gap(low, high int64) { p.at += low + p.Int64N(high-low) }

// stamp writes timestamps into hops as if the packet took link nanoseconds from each hop to
// the next, and the same to the sink, which it reached at p.at by the sink's clock; that clock
// is ahead by the offset of the watch.
func (p *player) stamp(hops []intgen.Hop, link int64, watch int) {
	at := p.at
	if watch == WatchPTP {
		at -= int64(ClockOffset)
	}
	for i := range hops {
		hops[i].EgressTimestamp = uint64(at - link)
		hops[i].IngressTimestamp = uint64(at - link - int64(hops[i].LatencyNs))
		at = int64(hops[i].IngressTimestamp)
	}
}

// sendStamped sends a packet with timestamps.
func (p *player) sendStamped(f *Flow, hops []intgen.Hop, link int64) *Packet {
	hops = slices.Clone(hops)
	p.stamp(hops, link, f.Watch)
	k := p.send(f, hops)
	k.Bitmap |= bitIngress | bitEgress
	return k
}

// others sends n packets, d apart, that give no event.
func (p *player) others(n int, d int64, f *Flow, hops []intgen.Hop) {
	for range n {
		p.send(f, hops)
		p.wait(d)
	}
}

// set returns a copy of hops with the latency of one of them changed.
func set(hops []intgen.Hop, i int, latency int64) []intgen.Hop {
	hops = slices.Clone(hops)
	hops[i].LatencyNs = uint32(latency)
	return hops
}

// via returns a copy of hops with another egress interface at one of them: another path.
func via(hops []intgen.Hop, i int, egress uint16) []intgen.Hop {
	hops = slices.Clone(hops)
	hops[i].Egress = egress
	return hops
}
