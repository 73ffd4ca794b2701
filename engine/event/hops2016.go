// hops2016: walks over hops of the June 2016 format, whose values have 31 bits and a
// bottom-of-stack mark; readHop2016 reads one.

package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// Values of the June 2016 format have 31 bits; the top one marks the bottom of the
// stack (section 5.3.3).
const (
	mask2016    = 0x7fffffff
	unknown2016 = 0x7fffffff
)

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
	if l.NodeID != 0 || o.Info.HopLen < minHopLen {
		return d.withoutNodes(now, f, p, o)
	}
	value := func(hop []byte, at int8) uint32 { return binary.BigEndian.Uint32(hop[at:]) & mask2016 }
	hasPath := l.Interfaces >= 0
	h, sum, summed := uint64(o.Info.Hops), uint64(0), true
	var set Set
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for ; len(stack) >= int(o.Info.HopLen); stack = stack[o.Info.HopLen:] {
		node := value(stack, l.NodeID)
		hasPath = hasPath && node != unknown2016
		h = d.mix(h, uint64(node))
		for _, at := range [2]int8{l.Interfaces, l.EgressTimestamp} {
			if at >= 0 {
				v := value(stack, at)
				hasPath = hasPath && v != unknown2016
				h = d.mix(h, uint64(v))
			}
		}
		x := uint32(unknown2016)
		if l.HopLatency >= 0 {
			x = value(stack, l.HopLatency)
		}
		if x == unknown2016 {
			summed = false
			continue
		}
		if d.models.scale {
			x = d.models.latencyOf(node, x)
		}
		sum += uint64(x)
		if node != unknown2016 && p.Events.Has(HopLatency) {
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

// readHop2016 reads a hop of the June 2016 format: values of 31 bits, each port on
// its own. There is no egress timestamp to measure a link by.
func readHop2016(n *hopValues, hop []byte, l *inthdr.Layout) {
	word := func(at int8, v *uint32) {
		if at < 0 {
			return
		}
		if x := binary.BigEndian.Uint32(hop[at:]) & mask2016; x != unknown2016 {
			*v = x
		}
	}
	ingress, egress := uint32(unknown32), uint32(unknown32)
	word(l.NodeID, &n.id)
	word(l.Interfaces, &ingress)
	word(l.EgressTimestamp, &egress)
	word(l.HopLatency, &n.latency)
	word(l.Queue, &n.queue)
	word(l.TxUtilization, &n.tx)
	if egress != unknown32 {
		n.interfaces = ingress<<16 | egress&0xffff
	}
	n.ingress, n.stampBits = shortTimestamp(hop, l.IngressTimestamp, mask2016), 31
}
