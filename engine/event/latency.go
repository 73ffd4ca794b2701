package event

import (
	"math/bits"

	"intsink/flows"
)

// hop finds node among the flow's hops, or adds it with x as its reference; -1
// where there is no room.
func (d *Detector) hop(f *flows.Flow, node, x uint32) int {
	for i := range int(f.NumHops) {
		if f.Hops[i].Node == node {
			return i
		}
	}
	if f.NumHops == flows.MaxHops {
		d.Counters.UntrackedHops++
		return -1
	}
	at := int(f.NumHops)
	f.Hops[at] = flows.Hop{Node: node, Ref: x}
	f.NumHops++
	return at
}

// deadband tests latency x of hop at: the event enters when k of the last n
// known values are out of the deadband, this one included. One that is too soon
// after the last stays pending: the window keeps it until the first packet after
// the interval on which it still holds.
//
//go:noinline
func (d *Detector) deadband(now int64, f *flows.Flow, at int, x uint32, t *Thresholds) Set {
	ref := f.Hops[at].Ref
	delta := x - ref
	if x < ref {
		delta = ref - x
	}
	window := f.Window(at) << 1
	if delta <= t.LatencyAbsolute || float64(delta) <= t.LatencyRelative*float64(ref) {
		f.SetWindow(at, window)
		return 0
	}
	window |= 1
	f.SetWindow(at, window)
	if bits.OnesCount8(window&(1<<t.LatencyN-1)) < t.LatencyK {
		return 0
	}
	d.Counters.Fired[HopLatency]++
	us := uint32(now / 1000)
	if sent := f.HopSent[at]; sent != 0 && int64(us-sent)*1000 < t.LatencyInterval {
		d.Counters.Suppressed[HopLatency][SuppressInterval]++
		return 0
	}
	f.Hops[at].Ref, f.HopSent[at] = x, us|1
	f.SetWindow(at, 0)
	return HopLatency.Set()
}
