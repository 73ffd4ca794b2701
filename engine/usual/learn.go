// Learn: what a sampled packet tells becomes part of what is usual, unless it is far above that; the end of a minute.

package usual

// Learn takes in what one sampled packet tells. learned is false where another goroutine holds u: the packet then teaches nothing. odd is
// true where a value was far above what is usual, or the packet passed a place that is slow: its caller then samples the next packet soon,
// so that the end of it is seen.
func (u *Usual) Learn(now int64, readings []Reading) (learned, odd bool) {
	if !u.mu.TryLock() {
		return false, false
	}
	slow := false
	for i := range readings {
		odd = u.learn(now, &readings[i], odd) || odd
		if len(u.slow) > 0 && !slow {
			_, slow = u.slow[readings[i].Place]
		}
	}
	u.mu.Unlock()
	return true, odd || slow
}

// learn takes in one reading. fault: the packet met something that is far above what is usual already, which explains why its
// path is.
func (u *Usual) learn(now int64, r *Reading, fault bool) (odd bool) {
	if r.Kind == Queue {
		return u.learnQueue(now, r)
	}
	p, _ := u.others[r.Kind%NumKinds].Get(now, r.Key)
	if p.begin(now) {
		p.roll(now, p.latency.values, u.floor)
		if r.Kind != Path {
			u.noteChange(r.Place, p.drift.since != 0)
		}
	}
	held, like := p.usual, Like{}
	if r.Kind == Hop {
		u.moved = u.moved || p.role != r.Role
		p.role = r.Role
		if !held.Known {
			like = u.like[nodeOf(r.Place)]
			held = like.Latency
		}
	}
	odd = r.Latency != unknown && held.isOdd(r.Latency, u.floor)
	waits := r.Kind == Hop && u.waits(held, r.Latency) || r.Kind == Path && fault
	isOdd := (odd || waits) && !p.relearns
	admitted := r.Latency != unknown && p.sources.admits(r.Source, !isOdd && !p.relearns && p.usual.isHigh(r.Latency))
	switch {
	case !admitted:
	case isOdd:
		p.odd++
	default:
		p.latency.add(r.Latency)
	}
	if r.Kind == Hop && !odd {
		u.teach(now, r, &p.taught)
	}
	if r.Kind != Path {
		u.note(now, r, p, held, like, odd)
	}
	return odd || waits
}

func (u *Usual) learnQueue(now int64, r *Reading) (odd bool) {
	q, _ := u.queues.Get(now, r.Key)
	if q.packet != r.Packet {
		q.packet = r.Packet
		u.setLimit(r.Key, q)
	}
	if q.begin(now) {
		q.roll(now, u.floor)
		u.setLimit(r.Key, q)
		u.noteChange(r.Place, q.occupancyDrift.since != 0)
	}
	latency, occupancy := q.usual, q.usualOccupancy
	if !latency.Known || !occupancy.Known {
		like := u.like[nodeOf(r.Place)]
		latency, occupancy = latency.or(like.Latency), occupancy.or(like.Occupancy)
		u.setLimit(r.Key, q)
	}
	odd = isOdd(r, latency, occupancy.atLeast(q.packet), u.floor) || u.waits(latency, r.Latency)
	isOdd := odd && !q.relearns
	if high := q.usual.isHigh(r.Latency) || q.usualOccupancy.isHigh(r.Occupancy); !q.sources.admits(r.Source, high && !isOdd && !q.relearns) {
		return odd
	}
	if isOdd {
		q.odd++
		return true
	}
	if r.Latency != unknown {
		q.latency.add(r.Latency)
	}
	if r.Occupancy != unknown {
		q.occupancy.add(r.Occupancy)
		u.teach(now, r, &q.taught)
	}
	return odd
}

// waits reports whether a latency above the floor is not learned yet, as there is nothing to hold it against: in the first second
// of a node.
func (u *Usual) waits(held Stat, latency uint32) bool {
	return !held.Known && latency != unknown && latency >= u.floor
}

// isOdd reports whether a packet's values are far above what is usual in a queue. Where both are known, an occupancy counts
// only with a latency above the floor.
func isOdd(r *Reading, latency, occupancy Stat, floor uint32) bool {
	if r.Occupancy != unknown && occupancy.isOdd(r.Occupancy, 0) && (r.Latency == unknown || r.Latency >= floor) {
		return true
	}
	return r.Latency != unknown && latency.isOdd(r.Latency, floor)
}

// begin reports whether the minute at hand is over; a place that is new begins its first. Bursts of other workers may be a
// little older: they end no minute.
func (p *place) begin(now int64) bool {
	if p.first == 0 {
		p.first, p.minute = max(now, 1), now/minute
	}
	return now/minute > p.minute || now/minute < p.minute-1
}

// roll ends the minute at hand, in which so many values were learned. forget: what was odd for so long is usual
// from now on.
func (p *place) roll(now int64, learned uint32, floor uint32) (forget bool) {
	minutes := max(now/minute-p.minute, 1)
	p.minute, p.taught = now/minute, 0
	if p.oddMinutes++; p.odd <= learned {
		p.oddMinutes = 0
	}
	p.odd = 0
	if p.oddMinutes >= patience {
		p.latency, p.oddMinutes, p.relearns, forget = Measure{}, 0, true, true
	}
	p.sources.roll()
	if now-p.first < young && p.usual.Known && p.latency.forget() { // what was there at the begin was a fault, and is over
		p.began = p.began || p.usual.P99 >= floor
	}
	p.latency.roll(minutes)
	p.usual, p.relearns = p.latency.next(p.usual, p.relearns)
	p.drift.follow(now, minutes, p.usual, float32(floor)/Factor, now-p.first < young)
	return forget
}

func (q *queue) roll(now int64, floor uint32) {
	minutes := max(now/minute-q.minute, 1)
	relearned := q.relearns
	if q.place.roll(now, max(q.latency.values, q.occupancy.values), floor) {
		q.occupancy, relearned = Measure{}, true
	}
	if now-q.first < young && q.usualOccupancy.Known {
		q.occupancy.forget()
	}
	q.occupancy.roll(minutes)
	q.usualOccupancy, _ = q.occupancy.next(q.usualOccupancy, relearned)
	q.occupancyDrift.follow(now, minutes, q.usualOccupancy, float32(max(leastOccupancy, Factor*q.packet)), now-q.first < young)
}

// leastOccupancy is below what an occupancy's drift does not matter: a queue of a few packets.
const leastOccupancy = 16

// next is what is usual after a minute, where it was so before: while a place is learned anew, what was before stays.
func (m *Measure) next(before Stat, relearns bool) (Stat, bool) {
	s := m.stat()
	if relearns && !s.Known {
		return before, true
	}
	return m.follow(s), false
}
