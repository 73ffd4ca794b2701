package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/flows"
)

// hopLatency tests every hop's latency against the one last reported for that
// node: the event enters when k of the last n known values are out of the
// deadband, this one included.
func (d *Detector) hopLatency(now int64, f *flows.Flow, p *Policy, o *Observation) Set {
	l := o.Layout
	if l.HopLatency < 0 || l.NodeID < 0 || !p.Events.Has(HopLatency) {
		return 0
	}
	var set Set
	i := 0
	for s := o.Stack; len(s) >= o.HopLen; s = s[o.HopLen:] {
		hop := s[:o.HopLen]
		node := binary.BigEndian.Uint32(hop[l.NodeID:])
		x := binary.BigEndian.Uint32(hop[l.HopLatency:])
		if node == unknown32 || x == unknown32 {
			continue
		}
		at := i
		if at >= int(f.NumHops) || f.Node[at] != node {
			if at = d.hop(f, node, x); at < 0 {
				continue
			}
		}
		i = at + 1
		set |= d.deadband(now, f, at, x, &p.Thresholds)
	}
	return set
}

// reference sets the first packet's latencies as references.
func (d *Detector) reference(f *flows.Flow, p *Policy, o *Observation) {
	l := o.Layout
	if l.HopLatency < 0 || l.NodeID < 0 {
		return
	}
	for s := o.Stack; len(s) >= o.HopLen; s = s[o.HopLen:] {
		node := binary.BigEndian.Uint32(s[l.NodeID:])
		x := binary.BigEndian.Uint32(s[l.HopLatency:])
		if node != unknown32 && x != unknown32 {
			d.hop(f, node, x)
		}
	}
}

// hop finds node among the flow's hops, or adds it with x as its reference; -1
// where there is no room.
func (d *Detector) hop(f *flows.Flow, node, x uint32) int {
	for i := range int(f.NumHops) {
		if f.Node[i] == node {
			return i
		}
	}
	if f.NumHops == flows.MaxHops {
		d.Counters.UntrackedHops++
		return -1
	}
	at := int(f.NumHops)
	f.Node[at], f.Ref[at] = node, x
	f.NumHops++
	return at
}

// deadband tests latency x of hop at. An event that is too soon after the last
// stays pending: the window keeps it until the first packet after the interval
// on which it still holds.
func (d *Detector) deadband(now int64, f *flows.Flow, at int, x uint32, t *Thresholds) Set {
	ref := f.Ref[at]
	delta := x - ref
	if x < ref {
		delta = ref - x
	}
	f.Window[at] <<= 1
	if delta <= t.LatencyAbsolute || float64(delta) <= t.LatencyRelative*float64(ref) {
		return 0
	}
	f.Window[at] |= 1
	if bits.OnesCount8(f.Window[at]&(1<<t.LatencyN-1)) < t.LatencyK {
		return 0
	}
	d.Counters.Fired[HopLatency]++
	us := uint32(now / 1000)
	if f.Sent[at] != 0 && int64(us-f.Sent[at])*1000 < t.LatencyInterval {
		d.Counters.Suppressed[HopLatency][SuppressInterval]++
		return 0
	}
	f.Ref[at], f.Window[at], f.Sent[at] = x, 0, us|1
	return HopLatency.Set()
}
