package event

import "intsink/flows"

// linkLatency tests the time between a packet's egress from n and its ingress into
// the next node. One that comes out negative says something of clocks, not of the
// link.
func (d *Detector) linkLatency(now int64, f *flows.Flow, n, next *hopValues, fresh bool, t *Thresholds) Set {
	ns, known := between(now, n, next)
	if !known {
		return 0
	}
	k, made := d.fabric.Links.Get(now, linkKey(n, next))
	if ns < 0 {
		d.Counters.ClockSkew++
		k.Skews++
		if made {
			k.Window, k.Ref, k.Last = 0, unknown32, unknown32
		}
		return 0
	}
	x := uint32(min(ns, unknown32-1))
	k.Last = x
	if made || k.Ref == unknown32 {
		k.Ref = x
		return 0
	}
	var enters bool
	k.Window, enters = t.LinkLatency.test(k.Ref, x, k.Window)
	if !enters {
		return 0
	}
	d.Counters.Fired[LinkLatency]++
	if fresh {
		return 0 // pending: the next packet that finds it so is reported
	}
	if t.LinkLatency.tooSoon(now, k.Sent) {
		return d.withhold(f, LinkLatency, SuppressInterval)
	}
	d.Trigger = Trigger{n.id, k.Ref, x}
	k.Ref, k.Window, k.Sent = x, 0, now
	return LinkLatency.Set()
}
