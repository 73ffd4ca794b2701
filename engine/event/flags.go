package event

import "intsink/flows"

// flags handles E and M: an event when the flag rises, after a time without it.
// fresh: it is there from the flow's first packet on, which is no rise.
//
//go:noinline
func (d *Detector) flags(now int64, f *flows.Flow, fresh bool, p *Policy, o *Observation) (set Set) {
	t := &p.Thresholds
	if o.Info.HopExceeded {
		set |= d.rise(now, &f.Cold().HopLimitSeen, HopLimit, t.HopLimitRearm)
	}
	if o.Info.MTUExceeded {
		set |= d.rise(now, &f.Cold().MTUSeen, MTUExceeded, t.MTURearm)
	}
	if fresh {
		return 0
	}
	return set & p.Events
}

func (d *Detector) rise(now int64, seen *uint32, e Event, rearm int64) Set {
	last := *seen
	*seen = flows.Tick(now) | 1
	if last != 0 && int64(flows.Tick(now)-last)<<20 < rearm {
		return 0
	}
	d.Counters.Fired[e]++
	return e.Set()
}
