package event

import "intsink/flows"

// flags handles E and M: an event when the flag rises, after a time without it.
// fresh: it is there from the flow's first packet on, which is no rise.
//
//go:noinline
func (d *Detector) flags(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation) (set Set) {
	t := &p.Thresholds
	if o.Info.HopExceeded {
		set |= d.rise(now, fresh, &f.Cold().HopLimitSeen, HopLimit, t.HopLimitRearm)
	}
	if o.Info.MTUExceeded {
		set |= d.rise(now, fresh, &f.Cold().MTUSeen, MTUExceeded, t.MTURearm)
	}
	return set & p.Events
}

// rise reports whether the flag, seen last at *seen, is up after a time without it.
func (d *Detector) rise(now int64, fresh bool, seen *int64, e Event, rearm int64) Set {
	last := *seen
	*seen = now
	if fresh || last != 0 && now-last < rearm {
		return 0
	}
	d.Counters.Fired[e]++
	return e.Set()
}
