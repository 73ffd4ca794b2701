// hops2016: walks over hops of the June 2016 format, whose values have 31 bits and a
// bottom-of-stack mark.

package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// mask2016 is a value of the June 2016 format: the top bit marks the bottom of the stack (section 5.3.3).
const mask2016 = 0x7fffffff

// nodeID returns the first word of a hop as hops and hops2016 keep it.
func nodeID(hop []byte, format inthdr.Format) uint32 {
	if format == inthdr.Format2016 {
		return bits.ReverseBytes32(binary.BigEndian.Uint32(hop) & mask2016)
	}
	return binary.LittleEndian.Uint32(hop)
}

// hops2016 is hops for the June 2016 format, where the two ports of a node are
// values of their own: bits 1 and 5.
func (d *Detector) hops2016(now int64, f *flows.Flow, p *Policy, o *Observation) Set {
	l := o.Layout
	if l.NodeID != 0 {
		return d.withoutNodes(now, f, p, o)
	}
	hasPath := true
	h, sum, summed := uint64(o.Info.Hops), uint64(0), true
	var set Set
	var n inthdr.Hop
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for ; len(stack) >= int(o.Info.HopLen); stack = stack[o.Info.HopLen:] {
		l.Read(&n, stack)
		node, x := n.NodeID, n.Latency
		hasPath = hasPath && node != unknown32
		h = d.mix(h, uint64(node))
		if l.Interfaces >= 0 { // the ingress port
			hasPath = hasPath && n.Ingress != unknown32
			h = d.mix(h, uint64(n.Ingress))
		}
		if l.EgressTimestamp >= 0 { // the egress port
			hasPath = hasPath && n.Egress != unknown32
			h = d.mix(h, uint64(n.Egress))
		}
		if x == unknown32 {
			summed = false
			continue
		}
		if d.models.scale {
			x = d.models.latencyOf(node, x)
		}
		sum += uint64(x)
		if node != unknown32 && p.Events.Has(HopLatency) {
			set |= d.latency(now, f, bits.ReverseBytes32(node), x, &p.Thresholds, o)
		}
	}
	if p.Events.Has(EndToEnd) {
		set |= d.endToEndLatency(now, f, p, o, sum, summed)
	}
	if hasPath {
		set |= d.path(now, f, p, o, h)
	}
	return set
}
