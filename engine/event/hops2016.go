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

// ones2016 is a value that a node did not tell.
const ones2016 = 1<<31 - 1

// value2016 is the value at an offset of a hop, without the mark of the stack's bottom.
func value2016(hop []byte, at int) uint32 { return binary.BigEndian.Uint32(hop[at:]) & ones2016 }

// hops2016 is hops for the June 2016 format, where the two ports of a node are
// values of their own: bits 1 and 5.
func (d *Detector) hops2016(now int64, f *flows.Flow, p *Policy, o *Observation) (set Set, worst uint32) {
	l := o.Layout
	if l.NodeID != 0 {
		return d.withoutNodes(now, f, p, o), unknown32
	}
	hasPath, watched := tellsPath(f, l), p.Events.Has(HopLatency)
	h, sum, summed := uint64(o.Info.Hops), uint64(0), true
	ingress, egress, latency, hopLen := int(l.Interfaces), int(l.EgressTimestamp), int(l.HopLatency), int(o.Info.HopLen)
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for i := 0; len(stack) >= hopLen; i++ {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		id, x := value2016(hop, 0), uint32(ones2016)
		hasPath = hasPath && id != ones2016
		h = d.mix(h, uint64(id))
		if ingress >= 0 {
			port := value2016(hop, ingress)
			hasPath = hasPath && port != ones2016
			h = d.mix(h, uint64(port))
		}
		if egress >= 0 {
			port := value2016(hop, egress)
			hasPath = hasPath && port != ones2016
			h = d.mix(h, uint64(port))
		}
		if latency >= 0 {
			x = value2016(hop, latency)
		}
		if x == ones2016 {
			summed = false
			continue
		}
		if d.models.scale {
			x = d.models.latencyOf(id, x)
		}
		sum += uint64(x)
		worst = max(worst, x)
		if node := bits.ReverseBytes32(id); id != ones2016 && watched && !isSettled(f, i, node, x, p.Thresholds.Latency.Absolute) {
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
