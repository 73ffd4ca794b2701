// Event link_latency: the time from one node's egress to the next one's ingress timestamp;
// negative times are clock skew.

package event

import "intsink/flows"

// linkLatency tests the time between a packet's egress from n and its ingress into
// the next node. A negative time is the fault of clocks, not of the
// link.
func (d *Detector) linkLatency(now int64, f *flows.Flow, n, next *hopValues, fresh bool, t *Thresholds) Set {
	ns, known := between(now+d.Wall, n, next)
	if !known {
		return 0
	}
	key := linkKey(n, next)
	k, made := d.fabric.Links.Get(now, key)
	var set Set
	if d.withholds(k, ns, n, next) {
		if made {
			k.Window, k.Ref = 0, unknown32
		}
	} else {
		set = d.testLink(now, f, n, key, k, uint32(min(ns, unknown32-1)), made, fresh, t)
	}
	k.settle(d.view.linkAbsolute)
	return set
}

// withholds counts a time that is negative, or that a clock has a part in which is known to be wrong, and reports whether it is
// one: it says nothing of the link.
func (d *Detector) withholds(k *Link, ns int64, n, next *hopValues) bool {
	if ns >= 0 && d.shared.clocks.Believes(n.NodeID, next.NodeID) {
		return false
	}
	d.Counters.ClockSkew++
	k.Skews++
	k.Last = unknown32
	return true
}

// testLink tests latency x of a link, which was made for it or known before.
func (d *Detector) testLink(now int64, f *flows.Flow, n *hopValues, key [2]uint64, k *Link, x uint32, made, fresh bool, t *Thresholds) Set {
	k.Last = x
	if made || k.Ref == unknown32 {
		k.Window, k.Ref = 0, d.shared.reference(now, key, x)
	}
	var enters bool
	if k.Window, enters = t.LinkLatency.test(k.Ref, x, k.Window); !enters {
		return 0
	}
	return d.linkEnters(now, f, n, key, k, fresh, t)
}

// reference returns the latency of a link that was last reported, or seen first, by any worker; x
// where there is none.
func (s *Shared) reference(now int64, key [2]uint64, x uint32) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, made := s.links.Get(now, key)
	if made {
		e.ref = x
	}
	return e.ref
}

// linkEnters handles a link whose latency has left the deadband by k.Last, as far as this
// worker knows. Where another one reported it meanwhile, it is compared with that.
func (d *Detector) linkEnters(now int64, f *flows.Flow, n *hopValues, key [2]uint64, k *Link, fresh bool, t *Thresholds) Set {
	s, x := d.shared, k.Last
	s.mu.Lock()
	defer s.mu.Unlock()
	e, made := s.links.Get(now, key)
	if made {
		e.ref = k.Ref
	}
	if e.ref != k.Ref {
		var enters bool
		k.Ref = e.ref
		if k.Window, enters = t.LinkLatency.test(e.ref, x, 0); !enters {
			return 0
		}
	}
	d.Counters.Fired[LinkLatency]++
	if fresh {
		return 0 // pending: the next packet that finds it so is reported
	}
	if t.LinkLatency.tooSoon(now, e.sent) {
		return d.withhold(f, LinkLatency, SuppressInterval)
	}
	d.Trigger = Trigger{n.NodeID, k.Ref, x}
	e.ref, e.sent = x, now
	k.Ref, k.Window = x, 0
	s.announce(d, sharedLinks, key)
	return LinkLatency.Set()
}
