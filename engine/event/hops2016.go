package event

import (
	"encoding/binary"

	"intsink/flows"
)

// Values of the June 2016 format have 31 bits; the top one marks the bottom of the
// stack (section 5.3.3).
const (
	mask2016    = 0x7fffffff
	unknown2016 = 0x7fffffff
)

// hops2016 is hops for the June 2016 format, where the two ports of a node are
// values of their own: bits 1 and 5.
func (d *Detector) hops2016(now int64, f *flows.Flow, p *Policy, o *Observation) Set {
	l := o.Layout
	if l.NodeID != 0 || o.Info.HopLen < minHopLen {
		return 0
	}
	value := func(hop []byte, at int8) uint32 { return binary.BigEndian.Uint32(hop[at:]) & mask2016 }
	hasPath := l.Interfaces >= 0
	h := uint64(o.Info.Hops)
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
		if l.HopLatency < 0 || node == unknown2016 || !p.Events.Has(HopLatency) {
			continue
		}
		if x := value(stack, l.HopLatency); x != unknown2016 {
			set |= d.latency(now, f, node, x, &p.Thresholds)
		}
	}
	if hasPath {
		set |= d.path(now, f, p, h)
	}
	return set
}
