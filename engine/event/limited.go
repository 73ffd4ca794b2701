package event

// perPort is the shortest time between two reports of one kind from one port:
// malformed, leak and unknown_domain.
const perPort = 1e9

// Limited is the set of e, or nothing where e was last reported, at *sent, less
// than a second ago. It counts both.
func (d *Detector) Limited(now int64, e Event, sent *int64) Set {
	d.Counters.Fired[e]++
	if *sent != 0 && now-*sent < perPort {
		d.Counters.Suppressed[e][SuppressInterval]++
		return 0
	}
	*sent = now
	return e.Set()
}
