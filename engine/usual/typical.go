// Typical: what most places of a kind usually do, for plan --suggest.

package usual

import "slices"

// Typical returns the middle of what the places of a kind usually do, the minute at hand included: half of them have a
// lower median, and half a lower 99th percentile, of their latency and, of queues, of their occupancy. n is how many of
// them have told enough. It takes time, and keeps packets from being learned meanwhile.
func (u *Usual) Typical(k Kind) (latency, occupancy Stat, n int) {
	var all [4][]uint32
	note := func(at int, m Measure) {
		m.roll(1)
		if s := m.stat(); s.Known {
			all[at], all[at+1] = append(all[at], s.Median), append(all[at+1], s.P99)
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if k == Queue {
		u.queues.Walk(0, MaxPlaces, func(_ [2]uint64, _ uint32, q *queue) {
			note(0, q.latency)
			note(2, q.occupancy)
		})
	} else {
		u.others[k%NumKinds].Walk(0, MaxPlaces, func(_ [2]uint64, _ uint32, p *place) { note(0, p.latency) })
	}
	middle := func(at int) Stat {
		if len(all[at]) == 0 {
			return Stat{}
		}
		slices.Sort(all[at])
		slices.Sort(all[at+1])
		return Stat{Known: true, Median: all[at][len(all[at])/2], P99: all[at+1][len(all[at])/2]}
	}
	return middle(0), middle(2), max(len(all[0]), len(all[2]))
}
