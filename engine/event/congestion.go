package event

import "intsink/flows"

// congestion follows the episodes of one queue: onset where the occupancy or the
// node's latency reaches its threshold, then every packet over it until the quota
// is used up, one packet at the end. An episode without a sample for a time ends
// silently.
func (d *Detector) congestion(now int64, f *flows.Flow, n *node, fresh bool, t *Thresholds) Set {
	byOccupancy, byLatency := t.CongestionRaise > 0 && n.queue != unknown32, t.CongestionLatency > 0 && n.latency != unknown32
	if !byOccupancy && !byLatency {
		return 0
	}
	occupancy := n.queue & 0xffffff
	q, _ := d.things.Queues.Get(now, n.egressKey(uint8(n.queue>>24)))
	if q.Congested && now-q.Seen > t.CongestionTimeout {
		q.Congested, q.Since = false, q.Seen
	}
	q.Seen, q.Occupancy, q.Latency = now, occupancy, n.latency
	onset := false
	over := byOccupancy && occupancy >= t.CongestionRaise || byLatency && n.latency >= t.CongestionLatency
	switch {
	case over && !q.Congested:
		q.Congested, q.Since, q.Reports = true, now, 0
		q.Episodes++
		d.Counters.Fired[Congestion]++
		onset = true
		fallthrough
	case over:
		if fresh && !onset {
			return 0
		}
		if int(q.Reports) >= t.CongestionQuota {
			return d.withhold(f, Congestion, SuppressQuota)
		}
		q.Reports++
		return Congestion.Set()
	case q.Congested && (!byOccupancy || occupancy <= t.CongestionClear) && (!byLatency || n.latency < t.CongestionLatency/2):
		q.Congested, q.Since = false, now
		return Congestion.Set()
	}
	return 0
}
