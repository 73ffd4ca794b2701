// Event congestion: begins, counts and ends episodes of queues, from onset over quota to
// clear or timeout.

package event

import "intsink/flows"

// congestion follows the episodes of one queue: onset where the occupancy or the
// node's latency reaches its threshold, then every packet over it until the quota
// is used up, one packet at the end. An episode without a sample for a time ends
// silently.
func (d *Detector) congestion(now int64, f *flows.Flow, n *hopValues, fresh bool, t *Thresholds) Set {
	byOccupancy, byLatency := t.CongestionRaise > 0 && n.Occupancy != unknown32, t.CongestionLatency > 0 && n.Latency != unknown32
	if !byOccupancy && !byLatency {
		return 0
	}
	occupancy, key := n.Occupancy, n.queueKey()
	q, made := d.fabric.Queues.Get(now, key)
	if made || now-q.Seen >= t.CongestionTimeout {
		q.Occupancy, q.Latency = unknown32, unknown32
	}
	q.Seen = now
	if occupancy != unknown32 { // whichever of the two counts under this watch: another one may have begun the episode
		q.Occupancy = occupancy
	}
	if n.Latency != unknown32 {
		q.Latency = n.Latency
	}
	over := byOccupancy && occupancy >= t.CongestionRaise || byLatency && n.Latency >= t.CongestionLatency
	if !over && !q.Congested {
		return 0
	}
	s := d.shared
	s.mu.Lock()
	e, _ := s.queues.Get(now, key)
	end := e.end.under(&d.ends)
	if e.Congested && now-e.Seen >= end.timeout {
		e.Congested, e.Since = false, e.Seen
	}
	was := e.Congested
	if !was {
		e.Occupancy, e.Latency, e.occupancyAt, e.latencyAt = q.Occupancy, q.Latency, 0, 0
	}
	if occupancy != unknown32 {
		e.Occupancy, e.occupancyAt = occupancy, now
	}
	if n.Latency != unknown32 {
		e.Latency, e.latencyAt = n.Latency, now
	}
	e.Seen = max(e.Seen, now)
	if over {
		e.end.take(t, !was)
	}
	set := d.episode(now, f, n, &e.Queue, over, e.reached(now, e.end.under(&d.ends)), fresh, t)
	if e.Congested != was || e.Congested && now-e.told >= t.CongestionTimeout/4 {
		e.told = now
		s.announce(d, sharedQueues, key)
	}
	q.take(&e.Queue)
	s.mu.Unlock()
	if q.Congested {
		d.markQueue(key)
	}
	return set
}

// episode moves q, which holds for all workers, by one packet that left through it. over and clear say what the values
// of the queue are now.
func (d *Detector) episode(now int64, f *flows.Flow, n *hopValues, q *Queue, over, clear, fresh bool, t *Thresholds) Set {
	onset := over && !q.Congested
	switch {
	case over:
		if onset {
			q.Congested, q.Since, q.Reports = true, now, 0
			q.Episodes++
			d.Counters.Fired[Congestion]++
		} else if fresh {
			return 0
		}
		if int(q.Reports) >= t.CongestionQuota {
			return d.withhold(f, Congestion, SuppressQuota)
		}
		q.Reports++
		d.Edge = d.Edge || onset
	case q.Congested && clear:
		q.Congested, q.Since, d.Edge = false, now, true
	default:
		return 0
	}
	d.Trigger = t.congestionTrigger(n)
	return Congestion.Set()
}

// episodeEnd is what ends an episode of a queue. Packets of several watches may cross it: the lowest values of those
// that were over their threshold count, and the longest timeout, or a watch with high thresholds would end an episode
// under another that has not ended, which begins anew, with a new quota, at the next packet.
type episodeEnd struct {
	clear   uint32 // the highest occupancy with which the episode ends; never: the occupancy does not count
	latency uint32 // the episode ends with a latency below half of this; 0: the latency does not count
	timeout int64  // nanoseconds without a packet after which the episode ends silently
}

// take takes the thresholds of a watch into account, whose packet is over them: the first one's alone.
func (e *episodeEnd) take(t *Thresholds, first bool) {
	if first {
		*e = episodeEnd{clear: never}
	}
	if t.CongestionRaise > 0 {
		e.clear = min(e.clear, t.CongestionClear)
	}
	if t.CongestionLatency > 0 && (e.latency == 0 || t.CongestionLatency < e.latency) {
		e.latency = t.CongestionLatency
	}
	e.timeout = max(e.timeout, t.CongestionTimeout)
}

// endsOf are the lowest values and the longest timeout of all watches with the event.
func endsOf(policies []Policy) episodeEnd {
	all := episodeEnd{clear: never}
	for i := range policies {
		if policies[i].Events.Has(Congestion) {
			all.take(&policies[i].Thresholds, false)
		}
	}
	return all
}

// under is e under rules whose lowest and longest values are those of all: after a reload, values that no watch has any
// more do not hold an episode.
func (e *episodeEnd) under(all *episodeEnd) episodeEnd {
	end := *e
	end.clear, end.timeout = max(end.clear, all.clear), min(end.timeout, all.timeout)
	if end.latency = max(end.latency, all.latency); e.latency == 0 || all.latency == 0 {
		end.latency = 0
	}
	return end
}

// reached reports whether the values that the queue was last known to have end its episode. A value that the last packet
// does not know is as it was, until nobody has told it for the timeout.
func (e *sharedQueue) reached(now int64, end episodeEnd) bool {
	return (end.clear == never || e.Occupancy <= end.clear || e.Occupancy == unknown32 || now-e.occupancyAt >= end.timeout) &&
		(end.latency == 0 || e.Latency < (end.latency+1)/2 || e.Latency == unknown32 || now-e.latencyAt >= end.timeout)
}

// congestionTrigger returns the occupancy where that is watched and known, else the latency.
func (t *Thresholds) congestionTrigger(n *hopValues) Trigger {
	if t.CongestionRaise > 0 && n.Occupancy != unknown32 {
		return Trigger{n.NodeID, t.CongestionRaise, n.Occupancy}
	}
	return Trigger{n.NodeID, t.CongestionLatency, n.Latency}
}
