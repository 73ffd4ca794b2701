// run: packets of one burst that go on with the open episode of a queue, counted together.

package event

import (
	"math/bits"

	"intsink/engine/episode"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// queueRun is a queue that packets of a burst have passed. What congestion does for a packet that goes on with its episode is the same
// for all that are over the same thresholds of the same watch at the same time, but for what goOn does. So the second of them begins a
// run, which touches nothing that other workers do, and tells them of all of its packets in endRun.
type queueRun struct {
	key   [2]uint64
	now   int64
	watch uint8 // of the packets

	episode.Run          // without a record: there is no run
	holds       bool     // the episode ends by calm that lasts
	over, next  uint64   // as in sharedQueue; which number of it is evidence
	latencies   interval // that packets of the run have
	occupancies interval

	latency, occupancy uint32 // the last ones
	rest               inthdr.Rest
}

// interval is the numbers from least to least + span.
type interval struct{ least, span uint32 }

func from(least, most uint32) interval { return interval{least, most - least} }

func (i interval) has(x uint32) bool { return x-i.least <= i.span }

// within leaves those of i that are not below least nor above most.
func (i interval) within(least, most uint32) interval {
	return from(max(i.least, least), min(i.least+i.span, most))
}

// beside is the numbers on the side of a threshold on which x is; of an unknown one there are no others.
func beside(threshold, x uint32) interval {
	switch {
	case x == unknown32:
		return from(unknown32, unknown32)
	case x >= threshold:
		return from(threshold, unknown32-1)
	}
	return from(0, threshold-1)
}

// alike are the latencies and occupancies of packets that are over the same thresholds of f as n, which is over one, and that are no
// evidence beside one with that severity.
func (f *inForce) alike(n *hopValues, shown uint32) (latencies, occupancies interval) {
	latencies, occupancies = beside(f.latency, n.Latency), beside(f.occupancy, n.Occupancy)
	if n.Latency != unknown32 && n.Latency >= f.latency && n.Occupancy >= f.full {
		occupancies = occupancies.within(f.full, unknown32) // else it is over another threshold, or none
	} else {
		latencies = latencies.within(f.floor, unknown32)
	}
	most := uint32(min(2*uint64(shown)-1, unknown32-1))
	if n.Latency != unknown32 && f.latency != never {
		latencies = latencies.within(0, most)
	} else {
		occupancies = occupancies.within(0, most)
	}
	return latencies, occupancies
}

// maxRuns is how many full queues on their way packets of a burst may pass at little cost.
const maxRuns = flows.MaxShares

// pass is congestion for packets of Meet.
func (d *Detector) pass(now int64, f *flows.Flow, n *hopValues, t *Thresholds) (set Set) {
	r, key := d.runOf(n.queueKey()), n.queueKey()
	if r.key == key && r.now == now && r.watch == f.Watch {
		if r.ID() == 0 {
			d.beginRun(r, n, t)
		}
		d.hand.crossed = Crossed{key, d.hand.values(n)}
		if r.goOn(f, &d.hand.crossed) {
			r.rest = n.rest
			d.hand.meet(r.ID())
			return 0
		}
	}
	d.endRun(r)
	set = d.congestion(now, f, n, false, t)
	r.key, r.now, r.watch = key, now, f.Watch
	return set
}

// runOf is the run of a queue, or the one that ends for it.
func (d *Detector) runOf(key [2]uint64) *queueRun {
	for i := range d.runs {
		if d.runs[i].key == key {
			return &d.runs[i]
		}
	}
	d.nextRun = (d.nextRun + 1) % maxRuns
	return &d.runs[d.nextRun]
}

// beginRun begins a run if packet n, which is not counted yet, is over a threshold and goes on with an episode that is recorded.
func (d *Detector) beginRun(r *queueRun, n *hopValues, t *Thresholds) {
	s, force := d.shared, d.inForce(t, r.key)
	if !force.over(n) || t.CongestionTimeout <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.queues.Find(r.key)
	if e == nil || !e.Congested || e.Calm || e.Seen < r.now || e.record == 0 || isEvidence(e.over+1, force.severity(n), e.shown) {
		return
	}
	if r.Run = s.episodes.Join(r.now, e.record); r.ID() == 0 {
		return
	}
	e.end.take(t, force, n, false, 0)
	end := e.end.under(&d.ends).raise(t, &force)
	e.Ends = e.until(&end)
	r.holds, r.over, r.next = end.hold != 0, e.over, 1<<bits.Len64(e.over)
	r.latencies, r.occupancies = force.alike(n, e.shown)
	r.latency, r.occupancy = n.Latency, n.Occupancy
}

// goOn is congestion for one more packet of the run. It returns false, and has done nothing, where there is none, and for one that is
// evidence, is over other thresholds, or tells other values.
func (r *queueRun) goOn(f *flows.Flow, c *Crossed) bool {
	if !r.takes(f.Watch, c) {
		return false
	}
	r.count(f, c)
	return true
}

func (r *queueRun) takes(watch uint8, c *Crossed) bool {
	return r.ID() != 0 && watch == r.watch && r.latencies.has(c.Latency) && r.occupancies.has(c.Occupancy) && r.over+1 != r.next
}

func (r *queueRun) count(f *flows.Flow, c *Crossed) {
	r.over++
	r.latency, r.occupancy = c.Latency, c.Occupancy
	r.Count(&f.Key, &f.Cold().Shares, &c.Values)
}

// endRun tells other workers of the packets of a run.
func (d *Detector) endRun(r *queueRun) {
	if r.ID() == 0 {
		return
	}
	s, id, packets := d.shared, r.ID(), r.Packets()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.episodes.Leave(r.now, &r.Run)
	e := s.queues.Find(r.key)
	if packets == 0 || e == nil || e.record != id || e.Calm {
		return
	}
	n := hopValues{rest: r.rest}
	n.Occupancy, n.Latency = r.occupancy, r.latency
	q, _ := d.fabric.Queues.Get(r.now, r.key)
	q.sample(r.now, &n, false)
	e.sample(r.now, &n, q, true)
	e.over += packets
	if e.overAt = r.now; r.holds {
		for range min(packets, autoOf) {
			e.Window = e.Window<<1&(1<<autoOf-1) | 1
		}
	}
	q.take(&e.Queue)
}

// EndRun is to be called behind the last of the packets that Meet is called with one after the other.
func (d *Detector) EndRun() {
	for i := range d.runs {
		d.endRun(&d.runs[i])
	}
}
