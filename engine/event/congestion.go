package event

import "intsink/flows"

// congestion follows the episodes of one queue: onset where the occupancy or the
// node's latency reaches its threshold, then every packet over it until the quota
// is used up, one packet at the end. An episode without a sample for a time ends
// silently.
func (d *Detector) congestion(now int64, f *flows.Flow, n *hopValues, fresh bool, t *Thresholds) Set {
	byOccupancy, byLatency := t.CongestionRaise > 0 && n.queue != unknown32, t.CongestionLatency > 0 && n.latency != unknown32
	if !byOccupancy && !byLatency {
		return 0
	}
	occupancy := n.occupancy()
	q, _ := d.fabric.Queues.Get(now, n.egressKey(uint8(n.queue>>24)))
	if now-q.Seen >= t.CongestionTimeout {
		if q.Congested {
			q.Congested, q.Since = false, q.Seen
		}
		q.Occupancy, q.Latency = 0, 0
	}
	q.Seen = now
	if byOccupancy {
		q.Occupancy = occupancy
	}
	if byLatency {
		q.Latency = n.latency
	}
	if q.Congested {
		d.congestedUntil = now + d.longestEpisode
	}
	onset := false
	over := byOccupancy && occupancy >= t.CongestionRaise || byLatency && n.latency >= t.CongestionLatency
	switch {
	case over && !q.Congested:
		q.Congested, q.Since, q.Reports = true, now, 0
		q.Episodes++
		d.congestedUntil = now + d.longestEpisode
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
		d.Edge = d.Edge || onset
		d.Trigger = t.congestionTrigger(n, occupancy, byOccupancy)
		return Congestion.Set()
	case q.Congested && hasCleared(q, t):
		q.Congested, q.Since, d.Edge = false, now, true
		d.Trigger = t.congestionTrigger(n, occupancy, byOccupancy)
		return Congestion.Set()
	}
	return 0
}

// hasCleared tells whether the values that q was last known to have end its episode. A
// value that this packet does not know is as it was.
func hasCleared(q *Queue, t *Thresholds) bool {
	return (t.CongestionRaise == 0 || q.Occupancy <= t.CongestionClear) &&
		(t.CongestionLatency == 0 || q.Latency < (t.CongestionLatency+1)/2)
}

// congestionTrigger is the occupancy where that is watched and known, else the
// latency.
func (t *Thresholds) congestionTrigger(n *hopValues, occupancy uint32, byOccupancy bool) Trigger {
	if byOccupancy {
		return Trigger{n.id, t.CongestionRaise, occupancy}
	}
	return Trigger{n.id, t.CongestionLatency, n.latency}
}
