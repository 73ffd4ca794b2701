package event

import "intsink/flows"

// Dropped is the event of a packet of f that the sink dropped: the first, then one
// per interval, with how many there were since the last. They may have been
// dropped for several reasons.
func (d *Detector) Dropped(now int64, f *flows.Flow) (Set, uint32) {
	d.Counters.Fired[Drop]++
	c := f.Cold()
	c.Drops++
	p := &d.policies[f.Watch]
	if !p.Events.Has(Drop) {
		return 0, 0
	}
	c.DropsSince++
	if c.DropSent != 0 && now-c.DropSent < p.Thresholds.DropInterval {
		return d.withhold(f, Drop, SuppressInterval), 0
	}
	n := c.DropsSince
	c.DropsSince, c.DropSent = 0, now
	d.Reported(now, f, Drop.Set())
	return Drop.Set(), n
}
