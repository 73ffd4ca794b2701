// Drift: what is usual at a place has changed: a second, slower measure than what is usual itself.

package usual

import (
	"math"
	"slices"
)

// What the slow measure follows in: it halves in two days and doubles in five, so that a weekend moves it by a factor of two each
// week, there and back. Where what is usual is drifted times that, it has changed; it no longer has below settles times, and
// after a week it is what it is.
const (
	halves   = 2 * 24 * 60 // minutes
	doubles  = 5 * 24 * 60
	drifted  = 4
	settles  = 2
	forAWeek = 7 * 24 * 60 * minute
)

// drift is the slow measure of a 99th percentile.
type drift struct {
	settled float32 // 0: nothing is known yet
	since   int64   // when what is usual was drifted times that, nanoseconds; 0: it is not
}

// follow takes up what is usual after so many minutes more. least: what is below makes no threshold, so that it does not matter.
func (d *drift) follow(now, minutes int64, s Stat, least float32, young bool) {
	if !s.Known {
		return
	}
	x := max(float32(s.P99), least, 1)
	switch {
	case d.settled == 0, young && x < d.settled: // what was there at the begin was a fault
		d.settled = x
	case x < d.settled:
		d.settled = max(x, d.settled*float32(math.Exp2(-float64(minutes)/halves)))
	default:
		d.settled = min(x, d.settled*float32(math.Exp2(float64(minutes)/doubles)))
	}
	switch {
	case d.since == 0 && x >= drifted*d.settled:
		d.since = now
	case d.since != 0 && x < settles*d.settled:
		d.since = 0
	case d.since != 0 && now-d.since >= forAWeek:
		*d = drift{settled: x}
	}
}

// Change is that what is usual at a place has changed.
type Change struct {
	Place
	Occupancy bool // else it is the latency, in nanoseconds
	Was, Is   uint32
	Since     int64 // Unix nanoseconds
}

// change returns what a drift says; s is what is usual now.
func (d *drift) change(s Stat, p Place, occupancy bool) (Change, bool) {
	return Change{p, occupancy, uint32(min(d.settled, unknown-1)), s.P99, d.since}, d.since != 0
}

// noteChange keeps in mind whether what is usual at a place has changed. Of maxSlow places at most.
func (u *Usual) noteChange(p Place, changed bool) {
	if !changed {
		delete(u.changed, p)
	} else if len(u.changed) < maxSlow {
		u.changed[p] = true
	}
}

// Changed returns the hops, segments and queues at which what is usual has changed, in the order of their keys: latencies of hops
// and segments, occupancies of queues. Places that no packet passes any more have changed nothing after a day.
func (u *Usual) Changed(now int64) (all []Change) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for at := range u.changed {
		var x Change
		var p *place
		ok := false
		if at.Kind == Queue {
			if q := u.queues.Find(at.Key); q != nil {
				p = &q.place
				x, ok = q.occupancyDrift.change(q.usualOccupancy, at, true)
			}
		} else if p = u.others[at.Kind].Find(at.Key); p != nil {
			x, ok = p.drift.change(p.usual, at, false)
		}
		if !ok || now/minute-p.minute > patience {
			delete(u.changed, at)
			continue
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Change) int { return slices.Compare(a.sortKey(), b.sortKey()) })
	return all
}

func (p Place) sortKey() []uint64 { return []uint64{uint64(p.Kind), p.Key[0], p.Key[1]} }
