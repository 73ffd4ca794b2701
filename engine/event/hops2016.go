// hops2016: walks over hops of the June 2016 format, whose values have 31 bits and a
// bottom-of-stack mark.

package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// nodeID returns the first word of a hop as hops and hops2016 keep it.
func nodeID(hop []byte, format inthdr.Format) uint32 {
	if format == inthdr.Format2016 {
		return bits.ReverseBytes32(inthdr.Value2016(hop, 0))
	}
	return binary.LittleEndian.Uint32(hop)
}

// hops2016 is hops for the June 2016 format, where the two ports of a node are
// values of their own: bits 1 and 5.
func (d *Detector) hops2016(now int64, f *flows.Flow, p *Policy, o *Observation) (set Set, worst uint32) {
	l := o.Layout
	if l.NodeID != 0 {
		return d.withoutNodes(now, f, p, o), unknown32
	}
	hasPath, watched := tellsPath(f, l), p.Events.Has(HopLatency)
	h, sum, summed := uint64(o.Info.Hops), uint64(0), true
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for i := 0; len(stack) >= int(o.Info.HopLen); i++ {
		hop := stack[:o.Info.HopLen]
		stack = stack[o.Info.HopLen:]
		id := inthdr.Value2016(hop, l.NodeID)
		hasPath = hasPath && id != unknown32
		h = d.mix(h, uint64(id))
		for _, at := range [2]int8{l.Interfaces, l.EgressTimestamp} { // the ingress port, the egress port
			if at >= 0 {
				port := inthdr.Value2016(hop, at)
				hasPath = hasPath && port != unknown32
				h = d.mix(h, uint64(port))
			}
		}
		x := inthdr.Value2016(hop, l.HopLatency)
		if x == unknown32 {
			summed = false
			continue
		}
		if d.models.scale {
			x = d.models.latencyOf(id, x)
		}
		sum += uint64(x)
		worst = max(worst, x)
		if node := bits.ReverseBytes32(id); id != unknown32 && watched && !isSettled(f, i, node, x, p.Thresholds.Latency.Absolute) {
			set |= d.latency(now, f, node, x, &p.Thresholds, o)
		}
	}
	if p.Events.Has(EndToEnd) {
		set |= d.endToEndLatency(now, f, p, o, sum, summed)
	}
	if hasPath {
		set |= d.path(now, f, p, o, h)
	}
	if !summed {
		worst = unknown32
	}
	return set, worst
}
