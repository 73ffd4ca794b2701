// What a sampled packet tells of the queues, hops, segments and the path that it passed (package usual);
// thresholds of congestion that are made of what is usual.

package event

import (
	"math/bits"

	"intsink/engine/clock"
	"intsink/engine/usual"
	"intsink/flows"
)

// mostReadings is what one packet may tell: of as many hops as a flow remembers, a queue, the hop and a
// segment each, and the path.
const mostReadings = 3*16 + 1

// learn has d.shared.usual take in the packet of flow f, which is a random sample, and returns what is to be reported of
// the segments on its way.
//
//go:noinline
func (d *Detector) learn(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation) Set {
	l, hopLen := o.Layout, int(o.Info.HopLen)
	if l.NodeID < 0 || hopLen == 0 || int(o.Info.StackLen)/hopLen > mostReadings/3 {
		return 0
	}
	var nodes [2]hopValues
	n, after := &nodes[0], &nodes[1] // after: the next node on the way, which stands before this one in the stack
	stack, all, path, sum := o.Frame[o.Info.Stack:][:o.Info.StackLen], d.readings[:0], [2]uint64{}, uint64(0)
	whole, crossings := !o.Info.MTUExceeded, d.crossings[:0]
	waiting, beyond := -1, uint32(unknown32) // reading of the hop behind, whose role says the next one; the node behind that hop
	for at := 0; at+hopLen <= len(stack); at += hopLen {
		d.readHop(n, stack[at:at+hopLen], l)
		if waiting >= 0 {
			all[waiting].Role, waiting = usual.RoleOf(n.NodeID, beyond), -1
		}
		if beyond = unknown32; at > 0 {
			beyond = after.NodeID
		}
		whole = whole && n.NodeID != unknown32 && n.Latency != unknown32
		hop := usual.HopKey(n.NodeID, uint16(n.Ingress), uint16(n.Egress))
		path, sum = usual.PathKey(path, hop), sum+uint64(n.Latency)
		if n.NodeID != unknown32 {
			all = append(all, usual.Reading{Place: usual.Place{Kind: usual.Queue, Key: n.queueKey()}, Latency: n.Latency, Occupancy: n.Occupancy, Packet: n.model.Packet},
				usual.Reading{Place: usual.Place{Kind: usual.Hop, Key: hop}, Latency: n.Latency, Occupancy: unknown32})
			if waiting = len(all) - 1; n.Ingress == unknown32 && n.Egress == unknown32 {
				all[waiting].Role, waiting = usual.RoleAt(at/hopLen, len(stack)/hopLen), -1
			}
		}
		if at > 0 && n.NodeID != unknown32 && after.NodeID != unknown32 {
			if ns, known := between(now+d.Wall, n, after); known {
				crossings = append(crossings, clock.Crossing{From: n.NodeID, To: after.NodeID, Ns: ns})
				if ns >= 0 && d.shared.clocks.Believes(n.NodeID, after.NodeID) {
					all = append(all, usual.Reading{Place: usual.Place{Kind: usual.Segment, Key: linkKey(n, after)}, Latency: uint32(min(ns, unknown32-1)), Occupancy: unknown32})
				}
			}
		}
		n, after = after, n
	}
	if waiting >= 0 {
		all[waiting].Role = usual.RoleOf(unknown32, beyond)
	}
	if whole {
		all = append(all, usual.Reading{Place: usual.Place{Kind: usual.Path, Key: path}, Latency: uint32(min(sum, unknown32-1)), Occupancy: unknown32})
	}
	source := d.shared.usual.Source(f.Key.Src())
	for i := range all {
		all[i].Source = source
	}
	d.shared.clocks.See(now+d.Wall, crossings)
	learned, odd := d.shared.usual.Learn(now+d.Wall, all)
	d.Samples.hurry = odd
	d.shared.series.Add(now+d.Wall, all)
	if !learned || !p.Thresholds.LinkAuto || !p.Events.Has(LinkLatency) {
		return 0
	}
	return d.slowLinks(now, f, fresh, all, &p.Thresholds)
}

// inForce are the thresholds that hold for one queue; never: there is none.
type inForce struct {
	occupancy, latency uint32
	floor              uint32 // of the latency, where it is known, for an occupancy to count
	full               uint32 // of the occupancy, where it is known, for a latency to count: with less the node is slow, not its queue
}

// inForce returns the thresholds of a watch for a queue: its own numbers, or what is usual there times the
// factor, none where nobody knows yet. Package fast takes the latter from the same memory (is_over in compare.h), and defers
// what is above the floor where nobody knows.
func (d *Detector) inForce(t *Thresholds, key [2]uint64) inForce {
	if t.CongestionFactor == 0 {
		return inForce{occupancy: orNever(t.CongestionRaise), latency: orNever(t.CongestionLatency)}
	}
	latency, occupancy := d.shared.usual.Limits().Of(key)
	return inForce{
		occupancy: orNever(times(occupancy, t.CongestionFactor)), floor: t.CongestionLatency, full: usual.Full(occupancy),
		latency: max(t.CongestionLatency, orNever(times(latency, t.CongestionFactor))),
	}
}

// floorOf is the latency below which nothing is slow: the lowest of all watches that hold queues against what is usual; 0: there
// is none.
func floorOf(policies []Policy) (floor uint32) {
	for i := range policies {
		if p := &policies[i]; p.Events.Has(Congestion) && p.Thresholds.CongestionFactor != 0 && (floor == 0 || p.Thresholds.CongestionLatency < floor) {
			floor = p.Thresholds.CongestionLatency
		}
	}
	return floor
}

// times multiplies, up to the highest known value.
func times(x, factor uint32) uint32 { return uint32(min(uint64(x)*uint64(factor), unknown32-1)) }

// over reports whether a packet's values reach a threshold.
func (f *inForce) over(n *hopValues) bool {
	return n.Latency != unknown32 && n.Latency >= f.latency && n.Occupancy >= f.full ||
		n.Occupancy != unknown32 && n.Occupancy >= f.occupancy && n.Latency >= f.floor // unknown is above any
}

// Of the last autoOf packets of a queue, autoOver have to be over a threshold made of what is usual before an episode
// begins: one packet is no congestion.
const autoOver, autoOf = 2, 4

// suspects notes whether one more packet, before an episode, was over such a threshold, and reports whether it begins one.
func suspects(window *uint8, over bool) bool {
	*window = *window << 1 & (1<<autoOf - 1)
	if over {
		*window |= 1
	}
	if bits.OnesCount8(*window) < autoOver {
		return false
	}
	*window = 0
	return true
}
