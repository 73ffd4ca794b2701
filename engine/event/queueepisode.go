// How an episode of a queue goes on: bursts and the calm between them, and when it is over.

package event

import "intsink/engine/episode"

// Thresholds that are made of what is usual have an episode last over the calm between bursts. It ends once the queue has
// been calm for the timeout; where it was in no episode for less than longestHold before, for twice as long as that, up to
// longestHold: bursts that repeat are one episode. Without any packet it lasts silentTimeouts times the timeout: a queue
// with few packets is as full as one with many.
const (
	longestHold    = 60e9
	silentTimeouts = 10
)

// silence is how long an episode lasts without a packet.
func (t *Thresholds) silence() int64 {
	if t.CongestionFactor != 0 {
		return silentTimeouts * t.CongestionTimeout
	}
	return t.CongestionTimeout
}

// follow takes one more packet of an episode into account. Where calm has to last, the last packets decide whether there is
// a burst: as many over the threshold as begin an episode begin one, and it lasts until autoOf in a row are calm.
func (e *sharedQueue) follow(now int64, over bool, end *episodeEnd) {
	switch {
	case over && (!e.Congested || e.Calm):
		if e.Calm, e.Window = false, 0; end.hold != 0 {
			e.Window = 1
		}
	case end.hold != 0 && !e.Calm:
		e.Window = e.Window << 1 & (1<<autoOf - 1)
		if over || !e.reached(now, end) {
			e.Window |= 1
		}
		e.Calm = e.Window == 0
	}
	if over {
		e.overAt = now
	}
}

// reached reports whether the values that the queue was last known to have end its episode. A value that the last packet
// does not know is as it was, until nobody has told it for the timeout.
func (e *sharedQueue) reached(now int64, end *episodeEnd) bool {
	return (end.clear == never || e.Occupancy <= end.clear || e.Occupancy == unknown32 || now-e.occupancyAt >= end.timeout) &&
		(end.latency == 0 || e.Latency < (end.latency+1)/2 || e.Latency == unknown32 || now-e.latencyAt >= end.timeout)
}

// ends reports whether a packet that is not over a threshold ends the episode.
func (e *sharedQueue) ends(now int64, end *episodeEnd) bool {
	if end.hold == 0 {
		return e.reached(now, end)
	}
	return e.Calm && now >= e.until(end)
}

// until is when the episode is over unless a packet shows otherwise.
func (e *sharedQueue) until(end *episodeEnd) int64 {
	if e.Calm {
		return e.overAt + end.hold
	}
	return e.Seen + end.timeout
}

// last is when the episode was last seen to be one.
func (e *sharedQueue) last() int64 {
	if e.Calm {
		return e.overAt
	}
	return e.Seen
}

// how is the way that an episode ended without a packet that showed it.
func (e *sharedQueue) how() episode.Ending {
	if e.Calm {
		return episode.Cleared
	}
	return episode.Silent
}

// calmFor is how long the queue has been in no episode; where there was none, long enough.
func (e *sharedQueue) calmFor(now int64) int64 {
	if e.Episodes == 0 {
		return longestHold
	}
	return now - e.Since
}

// close has the queue be in no episode since a time.
func (e *sharedQueue) close(since int64) {
	e.Congested, e.Calm, e.Window, e.Since, e.Ends, e.record = false, false, 0, since, 0, 0
}

// InEpisode reports whether the queue is in an episode at a time: one that is over is written down with the next packet only.
func (q *Queue) InEpisode(now int64) bool { return q.Congested && now < q.Ends }

// isHot reports whether packets of the queue have to go through Packet: before an episode that may begin, in one, and to end
// it; not in the calm between bursts.
func (q *Queue) isHot(now int64) bool {
	return q.Window != 0 || q.Congested && (!q.Calm || now >= q.Ends)
}

// episodeEnd is what ends an episode of a queue. Packets of several watches may cross it: the lowest values of those
// that were over their threshold count, and the longest timeout, or a watch with high thresholds would end an episode
// under another that has not ended, which begins anew, with a new quota, at the next packet.
type episodeEnd struct {
	clear   uint32 // the highest occupancy with which the episode ends; never: the occupancy does not count
	latency uint32 // the episode ends with a latency below half of this; 0: the latency does not count
	timeout int64  // nanoseconds without a packet after which the episode ends silently
	hold    int64  // nanoseconds that the queue has to be calm before the episode ends; 0: the first calm packet ends it
}

// take takes the thresholds into account that hold for the queue under a watch, whose packet n is over them: the
// first one's alone. Of thresholds made of what is usual those count that n is over. calm is how long the queue was in no
// episode before the first.
func (e *episodeEnd) take(t *Thresholds, force inForce, n *hopValues, first bool, calm int64) {
	if first {
		*e = episodeEnd{clear: never}
	}
	clear := t.CongestionClear
	if t.CongestionFactor != 0 {
		e.hold = max(e.hold, t.CongestionTimeout)
		if first && calm < longestHold {
			e.hold = max(e.hold, min(2*calm, longestHold))
		}
		clear = force.occupancy / 2
		if n.Latency == unknown32 || n.Latency < force.latency {
			force.latency = never
		} else if n.Occupancy == unknown32 || n.Occupancy < force.occupancy {
			force.occupancy = never
		}
	}
	e.lower(force, clear, t.silence())
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
				all.hold = max(all.hold, t.CongestionTimeout, longestHold)
			}
			all.lower(force, clear, t.silence())
		}
	}
	return all
}

// under is e under rules whose lowest and longest values are those of all: after a reload, values that no watch has any
// more do not hold an episode.
func (e *episodeEnd) under(all *episodeEnd) episodeEnd {
	end := *e
	end.clear, end.timeout, end.hold = max(end.clear, all.clear), min(end.timeout, all.timeout), min(end.hold, all.hold)
	if end.latency = max(end.latency, all.latency); e.latency == 0 || all.latency == 0 {
		end.latency = 0
	}
	return end
}

// raise is e by what is usual now: an episode may have begun when less was known.
func (e episodeEnd) raise(t *Thresholds, force *inForce) episodeEnd {
	if t.CongestionFactor == 0 {
		return e
	}
	if e.clear != never && force.occupancy != never {
		e.clear = max(e.clear, force.occupancy/2)
	}
	if e.latency != 0 && force.latency != never {
		e.latency = max(e.latency, force.latency)
	}
	return e
}
