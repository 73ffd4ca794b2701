package event

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// unknown32 is what a node writes that has no value (INT 2.1: all ones).
const unknown32 = 0xffffffff

// minHopLen is the shortest hop that is evidence of anything: a node id and one
// more word.
const minHopLen = 8

// hops goes once over the packet's hops, tests every latency against the one
// last reported for that node, and compares the path: a keyed hash over the
// ordered (node id, level-1 interfaces, level-2 interfaces if present) and the
// hop count. A packet with an unknown word, without bits 0 and 1, or with the M
// flag, is no evidence of its path.
//
// Words that only serve as identities (node id, interfaces) stay in the
// machine's byte order. With bits 0 and 1 set they are the first eight bytes of
// a hop.
func (d *Detector) hops(now int64, f *flows.Flow, p *Policy, o *Observation) Set {
	l := o.Layout
	if l.Format == inthdr.Format2016 {
		return d.hops2016(now, f, p, o)
	}
	hopLen := int(o.Info.HopLen)
	if l.NodeID != 0 || hopLen < minHopLen {
		return 0
	}
	hasPath := l.Interfaces >= 0 && !o.Info.MTUExceeded
	latency := int(l.HopLatency)
	if latency >= 0 && !p.Events.Has(HopLatency) {
		latency = -1
	}
	absolute := p.Thresholds.LatencyAbsolute
	var set Set
	h := uint64(o.Info.Hops)
	stack := o.Frame[o.Info.Stack:]
	stack = stack[:o.Info.StackLen]
	for i := 0; len(stack) >= hopLen; i++ {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		first := binary.LittleEndian.Uint64(hop)
		node := uint32(first)
		if node == unknown32 || first>>32 == unknown32 {
			hasPath = false
		}
		h = d.mix(h, first)
		if l.Level2Interfaces >= 0 {
			level2 := binary.LittleEndian.Uint64(hop[l.Level2Interfaces:])
			if uint32(level2) == unknown32 || level2>>32 == unknown32 {
				hasPath = false
			}
			h = d.mix(h, level2)
		}
		if latency < 0 || node == unknown32 {
			continue
		}
		x := binary.BigEndian.Uint32(hop[latency:])
		if i < int(f.NumHops) && i < flows.MaxHops {
			if k := &f.Hops[i]; k.Node == node && f.Window(i) == 0 && x-k.Ref+absolute <= 2*absolute {
				continue // where it always is, and within the absolute deadband
			}
		}
		if x != unknown32 {
			set |= d.latency(now, f, node, x, &p.Thresholds)
		}
	}
	if hasPath {
		set |= d.path(now, f, p, h)
	}
	return set
}

// latency handles a hop that is new, elsewhere in the stack than before, or out
// of its deadband now or lately.
//
//go:noinline
func (d *Detector) latency(now int64, f *flows.Flow, node, x uint32, t *Thresholds) Set {
	at := d.hop(f, node, x)
	if at < 0 {
		return 0
	}
	return d.deadband(now, f, at, x, t)
}
