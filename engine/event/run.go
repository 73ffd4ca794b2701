// run: packets of one burst that go on with the open episode of a queue, under locks that are taken once.

package event

import (
	"intsink/engine/episode"
	"intsink/flows"
)

// queueRun is the queue that the packets of a burst have passed last. What congestion does for a packet that goes on with its episode is
// the same for all that are over the same thresholds of the same watch at the same time, but for what goOn does. So the second in a
// row begins a run, which keeps the locks to EndRun.
type queueRun struct {
	key        [2]uint64
	now        int64
	thresholds *Thresholds

	record *episode.Record // of the episode; nil: there is no run, and no lock is held
	window *episode.Window // of record, at now
	known  *Queue
	shared *sharedQueue
	force  inForce
	slow   bool // packets are over the latency
	long   bool // over the occupancy
	holds  bool // the episode ends by calm that lasts
}

// which tells which of its thresholds a packet is over.
func (f *inForce) which(n *hopValues) (slow, long bool) {
	return n.Latency != unknown32 && n.Latency >= f.latency, n.Occupancy != unknown32 && n.Occupancy >= f.occupancy
}

// pass is congestion for packets of Meet.
func (d *Detector) pass(now int64, f *flows.Flow, n *hopValues, t *Thresholds) (set Set) {
	r, key := &d.run, n.queueKey()
	if r.key == key && r.now == now && r.thresholds == t {
		if r.record == nil {
			d.beginRun(n)
		}
		if r.record != nil && r.force.over(n) {
			if slow, long := r.force.which(n); slow == r.slow && long == r.long {
				return d.goOn(f, n)
			}
		}
	}
	d.EndRun()
	set = d.congestion(now, f, n, false, t)
	r.key, r.now, r.thresholds = key, now, t
	return set
}

// beginRun begins a run if packet n, which is not counted yet, is over a threshold and goes on with an episode that is recorded.
func (d *Detector) beginRun(n *hopValues) {
	r, s := &d.run, d.shared
	force := d.inForce(r.thresholds, r.key)
	if !force.over(n) || r.thresholds.CongestionTimeout <= 0 {
		return
	}
	s.mu.Lock()
	e, _ := s.queues.Get(r.now, r.key)
	if e.Congested && !e.Calm && e.Seen >= r.now && e.record != 0 {
		r.record, r.window = s.episodes.Hold(r.now, e.record)
	}
	if r.record == nil {
		s.mu.Unlock()
		return
	}
	e.end.take(r.thresholds, force, n, false, 0)
	end := e.end.under(&d.ends).raise(r.thresholds, &force)
	e.Ends = e.until(&end)
	r.known, _ = d.fabric.Queues.Get(r.now, r.key)
	r.shared, r.force, r.holds = e, force, end.hold != 0
	r.slow, r.long = force.which(n)
}

// goOn is congestion for one more packet of the run.
func (d *Detector) goOn(f *flows.Flow, n *hopValues) (set Set) {
	r := &d.run
	e := r.shared
	r.known.sample(r.now, n, false)
	e.sample(r.now, n, r.known, true)
	if e.overAt = r.now; r.holds {
		e.Window = e.Window<<1&(1<<autoOf-1) | 1
	}
	if e.isEvidence(r.force.severity(n)) {
		if set = d.evidence(f, e, r.thresholds); set != 0 {
			d.Trigger = r.force.trigger(n)
		}
	}
	r.record.Count(r.now, d.hand.counted(f, n), r.window)
	d.hand.meet(e.record)
	return set
}

// EndRun is to be called behind the last of the packets that Meet is called with one after the other: it gives locks back.
func (d *Detector) EndRun() {
	r := &d.run
	if r.record == nil {
		return
	}
	r.known.take(&r.shared.Queue)
	r.record = nil
	d.shared.episodes.Release()
	d.shared.mu.Unlock()
}
