package event

import "sync/atomic"

// perPort is the shortest time between two reports of one kind from one port:
// malformed, leak and unknown_domain.
const perPort = 1e9

// Limited is the set of e, or nothing where e was last reported, at *sent, less
// than a second ago, by whichever worker. It counts both.
func (d *Detector) Limited(now int64, e Event, sent *atomic.Int64) Set {
	d.Counters.Fired[e]++
	if last := sent.Load(); last != 0 && now-last < perPort || !sent.CompareAndSwap(last, now) {
		d.Counters.Suppressed[e][SuppressInterval]++
		return 0
	}
	return e.Set()
}
