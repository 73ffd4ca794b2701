// Deadbands (K of N outside of a reference) and the events hop_latency and end_to_end;
// which hops a flow remembers; latencies of sampled packets into histograms.

package event

import (
	"math/bits"

	"intsink/flows"
)

// hop finds node among the flow's hops, or adds it with x as its reference, in
// place of one that the packet did not pass where there is no room; -1 where it
// passed them all.
func (d *Detector) hop(f *flows.Flow, node, x uint32, o *Observation) int {
	for i := range int(f.NumHops) {
		if f.Hops[i].Node == node {
			return i
		}
	}
	at := int(f.NumHops)
	if at == flows.MaxHops {
		if at = notPassedIndex(f, o); at < 0 {
			d.Counters.UntrackedHops++
			return -1
		}
		f.SetWindow(at, 0)
		if f.HasCold() {
			f.Cold().HopSent[at] = 0
		}
		f.NumHops--
	}
	f.Hops[at] = flows.Hop{Node: node, Ref: x}
	f.NumHops++
	Unstore(f) // its place may have been that of a hop of the path
	return at
}

// notPassedIndex returns the place of a hop that o did not pass, that of the lowest node, or -1:
// whatever order the hops stand in.
func notPassedIndex(f *flows.Flow, o *Observation) int {
	at := -1
	for i := range f.Hops {
		if (at < 0 || f.Hops[i].Node < f.Hops[at].Node) && !passed(o, f.Hops[i].Node) {
			at = i
		}
	}
	return at
}

func passed(o *Observation, id uint32) bool {
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for ; len(stack) >= int(o.Info.HopLen) && len(stack) >= 4; stack = stack[o.Info.HopLen:] {
		if nodeID(stack, o.Layout.Format) == id {
			return true
		}
	}
	return false
}

// latency handles a hop that is new, elsewhere in the stack than before, or out of its deadband
// now or lately. An event too soon after the last one stays pending: the window keeps it, and the
// first packet after the interval reports it if its latency is still out of the deadband.
//
//go:noinline
func (d *Detector) latency(now int64, f *flows.Flow, node, x uint32, t *Thresholds, o *Observation) Set {
	at := d.hop(f, node, x, o)
	if at < 0 {
		return 0
	}
	if f.Hops[at].Ref == unknown32 { // hop_latency was not watched before
		setReference(f, at, x)
		return 0
	}
	window, enters := t.Latency.test(f.Hops[at].Ref, x, f.Window(at))
	f.SetWindow(at, window)
	if !enters {
		return 0
	}
	d.Counters.Fired[HopLatency]++
	if d.tellsEpisode(now, f, node, o) {
		setReference(f, at, x)
		f.SetWindow(at, 0)
		return d.withhold(f, HopLatency, SuppressEpisode)
	}
	if f.HasCold() && t.Latency.tooSoon(now, f.Cold().HopSent[at]) {
		return d.withhold(f, HopLatency, SuppressInterval)
	}
	d.Trigger = Trigger{f.Hops[at].ID(), f.Hops[at].Ref, x}
	setReference(f, at, x)
	f.Cold().HopSent[at] = now
	f.SetWindow(at, 0)
	return HopLatency.Set()
}

// tellsEpisode reports whether a latency of a packet is of an episode that tells it: its queue of that node, or of some node
// where that is unknown32, is in one by what is usual, and the flow's watch hears of those. Else each flow would tell of each
// burst, twice.
func (d *Detector) tellsEpisode(now int64, f *flows.Flow, node uint32, o *Observation) bool {
	p, hopLen := &d.policies[f.Watch], int(o.Info.HopLen)
	if d.view.Hot&HotQueues == 0 && !d.view.resting || p.Thresholds.CongestionFactor == 0 || !p.Events.Has(Congestion) || hopLen == 0 {
		return false
	}
	var n hopValues
	for stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]; len(stack) >= hopLen; stack = stack[hopLen:] {
		if id := nodeID(stack, o.Layout.Format); id == unknown32 || node != unknown32 && id != node {
			continue
		}
		d.readHop(&n, stack[:hopLen], o.Layout)
		if q := d.fabric.Queues.Find(n.queueKey()); q != nil && q.InEpisode(now) {
			return true
		}
	}
	return false
}

// setReference makes x the reference of a flow's hop.
func setReference(f *flows.Flow, at int, x uint32) {
	f.Hops[at].Ref = x
	if x > farthest {
		Unstore(f)
	}
}

// endToEnd is the same test on the end-to-end latency.
//
//go:noinline
func (d *Detector) endToEnd(now int64, f *flows.Flow, x uint32, t *Thresholds, o *Observation) Set {
	if !f.EndKnown() {
		f.SetEndRef(x)
		return 0
	}
	window, enters := t.EndToEnd.test(f.EndRef, x, f.EndWindow)
	f.SetEndWindow(window)
	if !enters {
		return 0
	}
	d.Counters.Fired[EndToEnd]++
	if d.tellsEpisode(now, f, unknown32, o) {
		f.SetEndRef(x)
		f.SetEndWindow(0)
		return d.withhold(f, EndToEnd, SuppressEpisode)
	}
	if f.HasCold() && t.EndToEnd.tooSoon(now, f.Cold().EndSent) {
		return d.withhold(f, EndToEnd, SuppressInterval)
	}
	d.Trigger = Trigger{unknown32, f.EndRef, x}
	f.SetEndRef(x)
	f.Cold().EndSent = now
	f.SetEndWindow(0)
	return EndToEnd.Set()
}

// withhold counts an event that a limit keeps from being reported.
func (d *Detector) withhold(f *flows.Flow, e Event, r SuppressReason) Set {
	d.Counters.Suppressed[e][r]++
	f.Cold().Suppressed++
	return 0
}

// Deadband tells noise from news: a value is out of it when it differs from the
// one last reported by more than Absolute and more than Relative of that; it is
// news when K of the last N values were.
type Deadband struct {
	Absolute uint32 // nanoseconds
	Relative float64
	K, N     int   // N at most 8
	Interval int64 // nanoseconds between two reports
}

// test returns the window after value x, whose reference is ref, and whether the
// event enters: K of the last N values are out, this one included.
func (b *Deadband) test(ref, x uint32, window uint8) (uint8, bool) {
	delta := x - ref
	if x < ref {
		delta = ref - x
	}
	window <<= 1
	if delta <= b.Absolute || float64(delta) <= b.Relative*float64(ref) {
		return window, false
	}
	window |= 1
	return window, bits.OnesCount8(window&(1<<b.N-1)) >= b.K
}

// tooSoon reports whether sent, 0 where there was no report yet, is less than Interval ago.
func (b *Deadband) tooSoon(now, sent int64) bool { return sent != 0 && now-sent < b.Interval }

// countLatencies counts the latencies of every hop, and of every link between two hops whose
// timestamps the packet carries, of a packet that is a random sample. What is unknown, and a negative
// time of a link, is left out.
//
//go:noinline
func (d *Detector) countLatencies(now int64, o *Observation) {
	l, hopLen := o.Layout, int(o.Info.HopLen)
	if hopLen == 0 {
		return
	}
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	var nodes [2]hopValues
	n, after := &nodes[0], &nodes[1] // after: the next node on the way, which stands before this one in the stack
	for at := 0; at+hopLen <= len(stack); at += hopLen {
		d.readHop(n, stack[at:at+hopLen], l)
		if n.Latency != unknown32 {
			d.Counters.HopLatencies.Observe(int64(n.Latency))
		}
		if at > 0 {
			if ns, known := between(now+d.Wall, n, after); known && ns >= 0 && d.shared.clocks.Believes(n.NodeID, after.NodeID) {
				d.Counters.LinkLatencies.Observe(ns)
			}
		}
		n, after = after, n
	}
}
