// run: packets of one burst that go on with the open episode of a queue, counted together.

package event

import (
	"math/bits"

	"intsink/engine/episode"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// handled is what a detector knows of a queue whose episode is recorded, beside its tally: which packet of the burst at hand went through
// congestion last. What that does for a packet that goes on with the episode is the same for all that are over the same thresholds of the
// same watch at the same time, but for what the tally counts. So they are counted there, and endRun tells the queue, and other workers, of
// all of them together. Package engine/fast counts them from one burst to the next; of those that it leaves to Pass, the second begins a run.
type handled struct {
	now                int64 // of the burst
	watch              uint8
	latency, occupancy uint32
	rest               inthdr.Rest // of the last packet
}

type interval = episode.Interval

func from(least, most uint32) interval { return interval{Least: least, Span: most - least} }

// within leaves those of i that are not below least nor above most.
func within(i interval, least, most uint32) interval {
	return from(max(i.Least, least), min(i.Least+i.Span, most))
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
		occupancies = within(occupancies, f.full, unknown32) // else it is over another threshold, or none
	} else {
		latencies = within(latencies, f.floor, unknown32)
	}
	most := uint32(min(2*uint64(shown)-1, unknown32-1))
	if n.Latency != unknown32 && f.latency != never {
		latencies = within(latencies, 0, most)
	} else {
		occupancies = within(occupancies, 0, most)
	}
	return latencies, occupancies
}

// pass is congestion for packets of Meet.
func (d *Detector) pass(now int64, f *flows.Flow, n *hopValues, t *Thresholds) (set Set) {
	key := n.queueKey()
	q, i := d.tallies.Of(key)
	if q != nil {
		if h := &d.handled[i]; h.now == now && h.watch == f.Watch {
			if !q.Goes {
				h.latency, h.occupancy = n.Latency, n.Occupancy
				d.endRun(now, i)
			}
			if v := d.hand.values(n); q.Takes(now, f.Watch, &v) {
				d.tallies.Count(i, &f.Key, &f.Cold().Shares, &v)
				h.rest = n.rest
				d.hand.meet(q.ID())
				return 0
			}
		}
	}
	set = d.congestion(now, f, n, false, t)
	if q == nil && d.tallies.Known() {
		return set // no record was opened
	}
	if q, i = d.tallies.Of(key); q != nil {
		d.handled[i] = handled{now, f.Watch, n.Latency, n.Occupancy, nothingElse}
		d.running |= 1 << i
	}
	return set
}

// stopRun ends the run of a queue: a packet is about to change more of it.
func (d *Detector) stopRun(now int64, key [2]uint64) {
	q, i := d.tallies.Of(key)
	if q == nil {
		return
	}
	if (d.tallies.Counted()|d.tallies.Others())>>i&1 != 0 {
		d.endRun(now, i)
	}
	q.Goes = false
}

// endRun tells the record and other workers of the packets in a tally, and has those behind it go on with the episode that are as the last
// one.
func (d *Detector) endRun(now int64, i int) {
	q, h, s := d.tallies.At(i), &d.handled[i], d.shared
	packets, key := q.Packets(), q.Queue()
	if packets == 0 && d.running>>i&1 == 0 { // they have no flow
		d.tallies.Leave(now, i)
		return
	}
	n := hopValues{rest: h.rest}
	if h.rest = nothingElse; packets == 0 {
		q.Watch, q.LastLatency, q.LastOccupancy = h.watch, h.latency, h.occupancy
	}
	n.Latency, n.Occupancy = q.LastLatency, q.LastOccupancy
	q.Goes = false
	s.mu.Lock()
	defer s.mu.Unlock()
	open := d.tallies.Leave(now, i)
	e := s.queues.Find(key)
	if !open || e == nil || e.record != q.ID() || e.Calm || !e.Congested {
		return
	}
	known, _ := d.fabric.Queues.Get(now, key)
	if packets != 0 {
		known.sample(now, &n, false)
		e.sample(now, &n, known, true)
		e.over += packets
		e.overAt = now
	}
	d.beginRun(q, e, &n, packets)
	if packets == 0 {
		return
	}
	if now-e.told >= d.policies[q.Watch].Thresholds.CongestionTimeout/4 {
		e.told = now
		s.announce(d, sharedQueues, key)
		d.mark(now, key, known)
	}
	known.take(&e.Queue)
}

// beginRun has packets go on with e, an episode that is recorded, which are as n, if that is over a threshold.
func (d *Detector) beginRun(q *episode.Tally, e *sharedQueue, n *hopValues, packets uint64) {
	if int(q.Watch) >= len(d.policies) {
		return
	}
	t := &d.policies[q.Watch].Thresholds
	force := d.inForce(t, q.Queue())
	if !force.over(n) || t.CongestionTimeout <= 0 {
		return
	}
	e.end.take(t, force, n, false, 0)
	end := e.end.under(&d.ends).raise(t, &force)
	if e.Ends = e.until(&end); end.hold != 0 {
		for range min(packets, autoOf) {
			e.Window = e.Window<<1&(1<<autoOf-1) | 1
		}
	}
	if e.isEvidence(e.over+1, force.severity(n)) {
		return
	}
	q.Latencies, q.Occupancies = force.alike(n, e.shown)
	q.Goes, q.Until, q.Left = true, e.Ends, e.next-e.over-1
}

// EndRun is to be called behind the last packet of each burst that came at now.
func (d *Detector) EndRun(now int64) {
	for left := d.tallies.Counted() | d.running; left != 0; left &= left - 1 {
		d.endRun(now, bits.TrailingZeros64(left))
	}
	d.running = 0
	d.tallies.Release()
}

// EndTallies has records take what is left in tallies: packets without a flow. It is to be called every millisecond or so, between bursts, and
// before anybody asks for the last time.
func (d *Detector) EndTallies(now int64) {
	for left := d.tallies.Others(); left != 0; left &= left - 1 {
		d.tallies.Leave(now, bits.TrailingZeros64(left))
	}
}
