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
