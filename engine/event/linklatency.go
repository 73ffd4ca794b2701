// Event link_latency: the time from one node's egress to the next one's ingress timestamp, held against the last report or
// against what is usual; negative times are clock skew.

package event

import (
	"intsink/engine/usual"
	"intsink/flows"
)

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

// slowLink is what was reported of a link that is held against what is usual.
type slowLink struct {
	told  bool   // that it is slow
	shown uint32 // the latency that was reported last
	sent  int64  // then
	calm  int64  // since when it is as usual again; 0: it is not
	ended int64  // since when it was so before it began; 0: it is the first time
	hold  int64  // for how long it has to be, before that is reported
}

// The end of a slow link is reported once it was as usual for a second, or twice as long as it was so before it began, up to a
// minute: one that comes and goes is told once.
const (
	leastHold = 1e9
	mostHold  = longestHold
)

// slowLinks reports links on the way of a sample that begin to be slow, become twice as slow, and are as usual again. A flow's
// first packet is not reported: another sample will tell.
func (d *Detector) slowLinks(now int64, f *flows.Flow, fresh bool, readings []usual.Reading, t *Thresholds) (set Set) {
	s := d.shared
	for i := range readings {
		r := &readings[i]
		if fresh || r.Kind != usual.Segment || r.Since == 0 && !s.anySlow.Load() {
			continue
		}
		s.mu.Lock()
		e, made := s.links.Get(now, r.Key)
		if made {
			e.ref = r.Latency
		}
		l := &e.slow
		ref, worse, news := l.news(now, now+d.Wall, r)
		if news {
			d.Counters.Fired[LinkLatency]++
		}
		if worse && t.LinkLatency.tooSoon(now, l.sent) {
			d.withhold(f, LinkLatency, SuppressInterval)
		} else if news {
			set = LinkLatency.Set()
			d.Trigger = Trigger{uint32(r.Key[0] >> 32), ref, r.Latency}
			l.shown, l.sent = r.Latency, now
			s.anySlow.Store(true)
		}
		s.mu.Unlock()
	}
	return set
}

// news takes in a sample, and reports whether it says something new of the link, that it is worse than it was said to be, and what
// the latency was before: usually, or as it was reported last. wall is the time of day, which r has.
func (l *slowLink) news(now, wall int64, r *usual.Reading) (ref uint32, worse, news bool) {
	switch {
	case !l.told && (!r.Odd || r.Since == 0 || wall-r.Since < usual.LineFor):
		return 0, false, false
	case !l.told:
		l.told, l.calm, l.hold = true, 0, leastHold
		if calm := now - l.ended; l.ended != 0 && calm < mostHold {
			l.hold = max(leastHold, min(2*calm, mostHold))
		}
		return r.Usual, false, true
	case r.Since != 0 || r.Odd:
		l.calm = 0
		worse = r.Odd && r.Latency/2 >= l.shown
		return l.shown, worse, worse
	case l.calm == 0:
		l.calm = now
	case now-l.calm >= l.hold:
		l.told, l.ended = false, l.calm
		return l.shown, false, true
	}
	return 0, false, false
}
