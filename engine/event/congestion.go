// Event congestion: which packets begin, show and end an episode of a queue; what is reported of it, and recorded;
// whose thresholds end it.

package event

import (
	"math/bits"

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
	if !byOccupancy && !byLatency && t.CongestionFactor == 0 {
		return 0
	}
	over := force.over(n)
	if t.CongestionFactor != 0 && !over && !d.sampling && !d.view.Queues.Has(d.view.bitOfKey(key)) {
		return 0 // as in C: most packets look no queue up; what the tables show of it comes from samples
	}
	d.stopRun(now, key)
	q, made := d.fabric.Queues.Get(now, key)
	if !over && q.Congested && q.Full < force.full { // what was learned since does not end the episode
		force.full = q.Full
		over = force.over(n)
	}
	q.sample(now, n, made || now-q.Seen >= t.CongestionTimeout)
	if !over && !q.Congested && q.Window == 0 {
		return 0
	}
	s := d.shared
	s.mu.Lock()
	e, _ := s.queues.Get(now, key)
	set := d.sharedCongestion(now, f, n, e, q, over, fresh, t, &force)
	if e.news || e.Congested && now-e.told >= t.CongestionTimeout/4 {
		e.told, e.news = now, false
		s.announce(d, sharedQueues, key)
	}
	q.take(&e.Queue)
	s.mu.Unlock()
	d.mark(now, key, q)
	return set
}

// sharedCongestion is congestion for what holds over all workers, which is locked: one packet moves e, the queue that q is for
// this worker.
func (d *Detector) sharedCongestion(now int64, f *flows.Flow, n *hopValues, e *sharedQueue, q *Queue, over, fresh bool, t *Thresholds, force *inForce) (set Set) {
	end := e.end.under(&d.ends).raise(t, force)
	if e.Congested && now >= e.until(&end) && (over || !e.Calm) { // no packet came to end it
		d.shared.episodes.End(e.last(), e.record, e.how())
		e.close(e.last())
	}
	if now-e.Seen >= t.silence() && !e.Congested {
		e.Window = 0
	}
	was, calm := e.Congested, e.Calm
	if t.CongestionFactor != 0 && (!was || calm) {
		over = suspects(&e.Window, over)
	}
	e.sample(now, n, q, was)
	if over {
		e.end.take(t, *force, n, !was, e.calmFor(now))
		end = e.end.under(&d.ends).raise(t, force)
	}
	if was || over {
		e.follow(now, over, &end)
	}
	x := force.severity(n)
	switch {
	case over && !was:
		set = d.onset(now, f, e, fresh, t)
		e.over, e.next, e.shown, e.Full = 1, 2, x, force.full
	case over && !fresh && e.shows(x):
		set = d.evidence(f, e, t)
	case !over && was && e.ends(now, &end):
		e.Congested, d.Edge, set = false, true, Congestion.Set()
	}
	if set != 0 {
		d.Trigger = force.trigger(n)
	}
	d.record(now, f, n, e, was, calm)
	e.news = e.Congested != was || e.Calm != calm
	if was && !e.Congested {
		e.close(e.last())
	}
	if e.Congested {
		e.Ends = e.until(&end)
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

// sample gives e the values of a packet; before an episode, first those that this worker knows.
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

// record opens, continues or closes the record of a queue's episode. was, calm: it was congested before this packet, between
// bursts.
func (d *Detector) record(now int64, f *flows.Flow, n *hopValues, e *sharedQueue, was, calm bool) {
	b := d.shared.episodes
	if e.Congested && (!was || e.record == 0 && e.over%tryAgain == 0) {
		v, _ := d.shared.usual.Of(usual.Place{Kind: usual.Queue, Key: n.queueKey()})
		if was {
			e.record = b.Again(now, n.queueKey(), v.Latency.Median, v.Occupancy.Median, e.over)
		} else {
			e.record = b.Begin(now, n.queueKey(), v.Latency.Median, v.Occupancy.Median)
		}
	}
	if e.record == 0 {
		return
	}
	switch {
	case e.Calm && !calm:
		b.Rest(e.overAt, e.record, e.end.hold)
	case !e.Calm && calm:
		b.Resume(now, e.record, n.Egress != unknown32) // else it is many queues that count as one
	}
	if !e.Calm {
		if !b.Count(now, e.record, d.hand.counted(f, n)) {
			e.record = 0 // it made room
			return
		}
		d.hand.meet(e.record)
	}
	if !e.Congested {
		b.End(e.last(), e.record, episode.Cleared)
	}
}

// tryAgain is after how many packets over its threshold a queue whose episode has no record asks for one again.
const tryAgain = 64

// severity returns the latency of a hop over a threshold or, where it is unknown or has no threshold, the occupancy.
func (f *inForce) severity(n *hopValues) uint32 {
	if n.Latency != unknown32 && f.latency != never {
		return n.Latency
	}
	return n.Occupancy
}

// isEvidence reports whether packet number over that is over the threshold is to be shown to the collector: each 2^n-th of the episode, or
// the first behind it, and one whose severity x is twice that of the last that was shown.
func (e *sharedQueue) isEvidence(over uint64, x uint32) bool {
	return over >= e.next || uint64(x) >= 2*uint64(e.shown)
}

// shows counts one more packet over the threshold, and reports whether it is evidence.
func (e *sharedQueue) shows(x uint32) bool {
	e.over++
	is := e.isEvidence(e.over, x)
	if is {
		e.shown = x
	}
	if e.over >= e.next {
		e.next = 1 << bits.Len64(e.over)
	}
	return is
}

// onset begins an episode. That of a flow's first packet is not reported, and spends nothing of the quota.
func (d *Detector) onset(now int64, f *flows.Flow, e *sharedQueue, fresh bool, t *Thresholds) Set {
	e.Congested, e.Since, e.Reports = true, now, 0
	e.Episodes++
	d.Counters.Fired[Congestion]++
	if fresh {
		return 0
	}
	d.Edge = true
	return d.evidence(f, e, t)
}

// evidence reports a packet over the threshold while the quota lasts.
func (d *Detector) evidence(f *flows.Flow, e *sharedQueue, t *Thresholds) Set {
	if int(e.Reports) >= t.CongestionQuota {
		return d.withhold(f, Congestion, SuppressQuota)
	}
	e.Reports++
	return Congestion.Set()
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
