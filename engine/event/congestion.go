// Event congestion: begins, counts and ends episodes of queues, from onset over quota to
// clear or timeout.

package event

import (
	"intsink/engine/episode"
	"intsink/engine/usual"
	"intsink/flows"
)

// congestion follows the episodes of one queue: onset where the occupancy or the
// node's latency reaches its threshold, then packets over it that are evidence, up to
// the quota, one packet at the end. An episode without a sample for a time ends
// silently.
func (d *Detector) congestion(now int64, f *flows.Flow, n *hopValues, fresh bool, t *Thresholds) Set {
	key := n.queueKey()
	force := d.inForce(t, key)
	byOccupancy, byLatency := force.occupancy != never && n.Occupancy != unknown32, force.latency != never && n.Latency != unknown32
	if !byOccupancy && !byLatency {
		return 0
	}
	over := force.over(n)
	if t.CongestionFactor != 0 && !over && !d.sampling && !d.view.Queues.Has(d.view.bitOfKey(key)) {
		return 0 // as in C: most packets look no queue up; what the tables show of it comes from samples
	}
	q, made := d.fabric.Queues.Get(now, key)
	q.sample(now, n, made || now-q.Seen >= t.CongestionTimeout)
	if !over && !q.Congested && q.Window == 0 {
		return 0
	}
	s := d.shared
	s.mu.Lock()
	e, _ := s.queues.Get(now, key)
	end := e.end.under(&d.ends)
	if e.Congested && now-e.Seen >= end.timeout {
		e.Congested, e.Since = false, e.Seen
		s.episodes.End(e.Seen, e.record, episode.Silent)
	}
	if now-e.Seen >= t.CongestionTimeout {
		e.Window = 0
	}
	was := e.Congested
	if t.CongestionFactor != 0 && !was {
		over = e.suspects(over)
	}
	e.sample(now, n, q, was)
	if over {
		e.end.take(t, force, n, !was)
	}
	var set Set
	if !over || !was || !fresh && e.isEvidence(force.severity(n)) {
		set = d.episode(now, f, &e.Queue, over, e.ends(now, e.end.under(&d.ends), n), fresh, t)
	}
	if set != 0 {
		d.Trigger = force.trigger(n)
	}
	d.record(now, f, n, e, key, was)
	if e.Congested && !was {
		e.over, e.shown = 1, force.severity(n)
	}
	if e.Congested != was || e.Congested && now-e.told >= t.CongestionTimeout/4 {
		e.told = now
		s.announce(d, sharedQueues, key)
	}
	q.take(&e.Queue)
	s.mu.Unlock()
	if q.Congested || q.Window != 0 {
		d.markQueue(key)
	}
	return set
}

// sample makes the values of a packet those of q. anew: what was known before counts no longer.
func (q *Queue) sample(now int64, n *hopValues, anew bool) {
	if anew {
		q.Occupancy, q.Latency = unknown32, unknown32
	}
	q.Seen, q.Rest = now, n.rest
	if n.Occupancy != unknown32 { // whichever of the two counts under this watch: another one may have begun the episode
		q.Occupancy = n.Occupancy
	}
	if n.Latency != unknown32 {
		q.Latency = n.Latency
	}
}

// sample makes the values of a packet those of e; before an episode, those that this worker knows.
func (e *sharedQueue) sample(now int64, n *hopValues, known *Queue, congested bool) {
	if !congested {
		e.Occupancy, e.Latency, e.occupancyAt, e.latencyAt = known.Occupancy, known.Latency, 0, 0
	}
	if n.Occupancy != unknown32 {
		e.Occupancy, e.occupancyAt = n.Occupancy, now
	}
	if n.Latency != unknown32 {
		e.Latency, e.latencyAt = n.Latency, now
	}
	e.Seen, e.Rest = max(e.Seen, now), n.rest
}

// record opens, continues or closes the record of a queue's episode. was: it was congested before this packet.
func (d *Detector) record(now int64, f *flows.Flow, n *hopValues, e *sharedQueue, key [2]uint64, was bool) {
	b := d.shared.episodes
	if e.Congested && !was {
		v, _ := d.shared.usual.Of(usual.Place{Kind: usual.Queue, Key: key})
		e.record = b.Begin(now, key, v.Latency.Median, v.Occupancy.Median)
	}
	if e.record == 0 || !e.Congested && !was {
		return
	}
	b.Count(now, e.record, &episode.Packet{Flow: &f.Key, Bytes: d.hand.size, Latency: n.Latency, Occupancy: n.Occupancy})
	d.hand.meet(e.record)
	if !e.Congested {
		b.End(now, e.record, episode.Cleared)
		e.record = 0
	}
}

// severity returns the latency of a hop over a threshold or, where it is unknown or has no threshold, the occupancy.
func (f *inForce) severity(n *hopValues) uint32 {
	if n.Latency != unknown32 && f.latency != never {
		return n.Latency
	}
	return n.Occupancy
}

// isEvidence reports whether one more packet over the threshold is to be shown to the collector: each 2^n-th of the
// episode, and one whose severity x is twice that of the last that was shown.
func (e *sharedQueue) isEvidence(x uint32) bool {
	e.over++
	if e.over&(e.over-1) == 0 || uint64(x) >= 2*uint64(e.shown) {
		e.shown = max(e.shown, x)
		return true
	}
	return false
}

// episode moves q, which holds for all workers, by one packet that left through it. over and clear say what the values
// of the queue are now.
func (d *Detector) episode(now int64, f *flows.Flow, q *Queue, over, clear, fresh bool, t *Thresholds) Set {
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

// take takes the thresholds into account that hold for the queue under a watch, whose packet n is over them: the
// first one's alone. Of thresholds made of what is usual those count that n is over.
func (e *episodeEnd) take(t *Thresholds, force inForce, n *hopValues, first bool) {
	if first {
		*e = episodeEnd{clear: never}
	}
	clear := t.CongestionClear
	if t.CongestionFactor != 0 {
		clear = force.occupancy / 2
		if n.Latency == unknown32 || n.Latency < force.latency {
			force.latency = never
		} else if n.Occupancy == unknown32 || n.Occupancy < force.occupancy {
			force.occupancy = never
		}
	}
	e.lower(force, clear, t.CongestionTimeout)
}

// lower takes one more set of thresholds into account.
func (e *episodeEnd) lower(force inForce, clear uint32, timeout int64) {
	if force.occupancy != never {
		e.clear = min(e.clear, clear)
	}
	if force.latency != never && (e.latency == 0 || force.latency < e.latency) {
		e.latency = force.latency
	}
	e.timeout = max(e.timeout, timeout)
}

// endsOf are the lowest values and the longest timeout of all watches with the event.
func endsOf(policies []Policy) episodeEnd {
	all := episodeEnd{clear: never}
	for i := range policies {
		if policies[i].Events.Has(Congestion) {
			t := &policies[i].Thresholds
			force, clear := inForce{occupancy: orNever(t.CongestionRaise), latency: orNever(t.CongestionLatency)}, t.CongestionClear
			if t.CongestionFactor != 0 { // a queue may have any occupancy
				force.occupancy, clear = 0, 0
			}
			all.lower(force, clear, t.CongestionTimeout)
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

// mergedCalm is how many packets in a row have to be calm before an episode ends where the bitmap tells no interfaces: the
// queues of one number of all interfaces of a node are one then, and those that are calm say nothing of the one that is not.
const mergedCalm = 16

// ends reports whether the packet ends the episode.
func (e *sharedQueue) ends(now int64, end episodeEnd, n *hopValues) bool {
	if !e.reached(now, end) {
		e.calm = 0
		return false
	}
	e.calm = min(e.calm+1, mergedCalm)
	return n.Egress != unknown32 || e.calm == mergedCalm
}

// trigger returns the occupancy where that is watched and known, else the latency. Of thresholds made of what is
// usual the latency goes first, unless the occupancy alone is over.
func (f *inForce) trigger(n *hopValues) Trigger {
	byLatency := f.floor != 0 && n.Latency != unknown32 && (n.Latency >= f.latency || n.Occupancy < f.occupancy)
	if f.occupancy != never && n.Occupancy != unknown32 && !byLatency {
		return Trigger{n.NodeID, f.occupancy, n.Occupancy}
	}
	return Trigger{n.NodeID, f.latency, n.Latency}
}
