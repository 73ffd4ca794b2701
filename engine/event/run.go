// run: packets of one burst that go on with the open episode of a queue, counted together.

package event

import (
	"intsink/engine/episode"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// queueRun is a queue that packets of a burst have passed. What congestion does for a packet that goes on with its episode is the same
// for all that are over the same thresholds of the same watch at the same time, but for what goOn does. So the second of them begins a
// run, which touches nothing that other workers do, and tells them of all of its packets in endRun.
type queueRun struct {
	key        [2]uint64
	now        int64
	thresholds *Thresholds

	episode.Run // without a record: there is no run
	force       inForce
	slow        bool   // packets are over the latency
	long        bool   // over the occupancy
	holds       bool   // the episode ends by calm that lasts
	over, shown uint32 // as in sharedQueue

	occupancy, latency uint32 // the last ones that were told
	rest               inthdr.Rest
}

// which tells which of its thresholds a packet is over.
func (f *inForce) which(n *hopValues) (slow, long bool) {
	return n.Latency != unknown32 && n.Latency >= f.latency, n.Occupancy != unknown32 && n.Occupancy >= f.occupancy
}

// maxRuns is how many full queues on their way packets of a burst may pass at little cost.
const maxRuns = flows.MaxShares

// pass is congestion for packets of Meet.
func (d *Detector) pass(now int64, f *flows.Flow, n *hopValues, t *Thresholds) (set Set) {
	r, key := d.runOf(n.queueKey()), n.queueKey()
	if r.key == key && r.now == now && r.thresholds == t {
		if r.ID() == 0 {
			d.beginRun(r, n)
		}
		if r.ID() != 0 && d.goOn(r, f, n) {
			return 0
		}
	}
	d.endRun(r)
	set = d.congestion(now, f, n, false, t)
	r.key, r.now, r.thresholds = key, now, t
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
func (d *Detector) beginRun(r *queueRun, n *hopValues) {
	s, force := d.shared, d.inForce(r.thresholds, r.key)
	if !force.over(n) || r.thresholds.CongestionTimeout <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.queues.Find(r.key)
	if e == nil || !e.Congested || e.Calm || e.Seen < r.now || e.record == 0 {
		return
	}
	if r.Run = s.episodes.Join(r.now, e.record); r.ID() == 0 {
		return
	}
	e.end.take(r.thresholds, force, n, false, 0)
	end := e.end.under(&d.ends).raise(r.thresholds, &force)
	e.Ends = e.until(&end)
	r.force, r.holds, r.over, r.shown = force, end.hold != 0, e.over, e.shown
	r.slow, r.long = force.which(n)
	r.occupancy, r.latency = unknown32, unknown32
}

// goOn is congestion for one more packet of the run. It returns false, and has done nothing, for one that is evidence, or is over other
// thresholds.
func (d *Detector) goOn(r *queueRun, f *flows.Flow, n *hopValues) bool {
	if slow, long := r.force.which(n); slow != r.slow || long != r.long || !r.force.over(n) {
		return false
	}
	if isEvidence(r.over+1, r.force.severity(n), r.shown) {
		return false
	}
	r.over++
	if r.rest = n.rest; n.Occupancy != unknown32 {
		r.occupancy = n.Occupancy
	}
	if n.Latency != unknown32 {
		r.latency = n.Latency
	}
	r.Count(d.hand.counted(f, n))
	d.hand.meet(r.ID())
	return true
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
	e.over += uint32(packets)
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
