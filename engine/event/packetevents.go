// Events of a single packet: drop, hop_limit (E flag), mtu_exceeded (M flag); one report a
// second per port of malformed, leak, unknown_domain.

package event

import (
	"sync/atomic"

	"intsink/flows"
)

// Dropped returns the event of a packet of f that the sink dropped for a reason: the first, then one per
// reason and interval, with how many there were for it since the last.
func (d *Detector) Dropped(now int64, f *flows.Flow, reason uint8) (Set, uint32) {
	d.Counters.Fired[Drop]++
	c := f.Cold()
	c.Drops++
	p := &d.policies[f.Watch]
	if !p.Events.Has(Drop) {
		return 0, 0
	}
	l := c.DropLimit(reason)
	l.Since++
	if l.Sent != 0 && now-l.Sent < p.Thresholds.DropInterval {
		return d.withhold(f, Drop, SuppressInterval), 0
	}
	n := l.Since
	l.Since, l.Sent = 0, now
	d.Reported(now, f, Drop.Set())
	return Drop.Set(), n
}

// flags handles E and M: an event when the flag rises, on a flow's first packet or after a time without it.
// A first packet that is not reported as new_flow takes from that event's bucket, else a flood of flows with a flag
// would be reported whole: where it is empty, the flow's next packet with the flag is the rise.
//
//go:noinline
func (d *Detector) flags(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation, set Set) Set {
	t, c := &p.Thresholds, f.Cold()
	var up Set
	if o.Info.HopExceeded {
		up |= rise(now, &c.HopLimitSeen, HopLimit, t.HopLimitRearm)
	}
	if o.Info.MTUExceeded {
		up |= rise(now, &c.MTUSeen, MTUExceeded, t.MTURearm)
	}
	withheld := fresh && up&p.Events != 0 && !set.Has(NewFlow) && !d.newFlow.take(now, t.NewFlowRate)
	for _, e := range [...]Event{HopLimit, MTUExceeded} {
		if !up.Has(e) {
			continue
		}
		if d.Counters.Fired[e]++; withheld && p.Events.Has(e) {
			up &^= d.withhold(f, e, SuppressRate) | e.Set()
		}
	}
	if withheld {
		c.HopLimitSeen, c.MTUSeen = 0, 0
	}
	return up & p.Events
}

// rise is the set of e if its flag, seen last at *seen, is up after a time without it.
func rise(now int64, seen *int64, e Event, rearm int64) Set {
	last := *seen
	*seen = now
	if last != 0 && now-last < rearm {
		return 0
	}
	return e.Set()
}

// perPort is the shortest time between two reports of one kind from one port:
// malformed, leak and unknown_domain.
const perPort = 1e9

// Limited returns the set of e, or nothing where e was last reported, at *sent, less than a second
// ago, by whichever worker. It counts both.
func (d *Detector) Limited(now int64, e Event, sent *atomic.Int64) Set {
	d.Counters.Fired[e]++
	if last := sent.Load(); last != 0 && now-last < perPort || !sent.CompareAndSwap(last, now) {
		d.Counters.Suppressed[e][SuppressInterval]++
		return 0
	}
	return e.Set()
}
