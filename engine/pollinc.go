// Polling in C (fast.Loop): when it may, what Go does when C stops, and how its counts are taken over.

package engine

import (
	"math"
	"slices"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/fast"
)

// inC is a Queue that loops in C can use by themselves, as ethdev.Queue is: its methods in Go are passed by
// then.
type inC interface{ InC() mbuf.CQueue }

// newLoop has C poll links, if it can use all their queues; nil: it cannot. clock is added to
// CLOCK_MONOTONIC to get the worker's clock; 0: it cannot be got so.
func newLoop(links []burst.Served, detector *event.Detector, clock int64) *fast.Loop {
	if clock == 0 {
		return nil
	}
	var ends []fast.Ends
	for i := range links {
		network, ok := links[i].Network.(inC)
		host, both := links[i].Host.(inC)
		if !ok || !both {
			return nil
		}
		ends = append(ends, fast.Ends{Network: network.InC(), Host: host.InC()})
	}
	return fast.NewLoop(ends, detector.Announced(), clock)
}

// mayLoop tells whether C can poll now. It cannot while a question is answered between polls, while
// the next burst is due for an aside, and while bursts are left to the parser.
func (w *Worker) mayLoop() bool {
	if w.loop == nil || w.Questions.Serving() || slices.ContainsFunc(w.readings.paths, func(p *fast.Path) bool { return !p.MayLoop() }) {
		return false
	}
	left, _ := w.stages.turns.Left()
	return left > 0
}

// pollInC polls in C until something is due or a burst needs more than package fast knows, and
// does the rest with that burst. It tells whether there is such a burst, or the last poll found
// packets.
func (w *Worker) pollInC(idle *Idle) (found bool) {
	l, b, p := w.loop, w.burst, &w.pace
	packets, at := w.stages.turns.Left()
	l.Until = fast.Until{
		Synced: w.detector.Synced(), Time: min(w.nextTick, w.reporter.Due()), LongGap: LongGaps[0],
		Due: packets, DueAt: at, MostEmpty: idle.mostEmpty(),
	}
	look, at := w.detector.Samples.Next()
	l.Look, l.LookAt, l.LookFrom = int64(look), at, w.detector.Samples.From()
	l.Now, l.Last, l.Empty = max(l.Now, b.Now), p.last, uint32(min(p.empty, math.MaxUint32))
	why := l.Run(w.readings.paths, w.stages.match.Burst(b, true), b.Back)
	w.countInC(l)
	if why == fast.Pause {
		return p.empty == 0
	}
	w.goOn(&w.links[l.Link()], b, why)
	return true
}

// countInC takes over what C has counted.
func (w *Worker) countInC(l *fast.Loop) {
	w.pace.last, w.pace.empty, w.pace.polled, w.burst.Now = l.Last, int(l.Empty), l.Now, l.Now
	w.pace.takeOver(l.Take(), l.Last)
	withINT := 0
	for i := range w.links {
		passed, c := l.Passed(i), w.links[i].Counters
		c.Direction[burst.ToHost].Received += passed.Received
		c.Direction[burst.ToHost].Forwarded += passed.Forwarded
		c.CountTypes(passed.WithINT, passed.Types)
		withINT += int(passed.WithINT)
	}
	w.stages.turns.Count(withINT)
	w.detector.Samples.Count(l.Now, withINT)
}

// tellLoop sets which links' packets without INT the loop in C returns to Go: those of links with rules that drop packets, or with a
// capture. Such packets have no flow whose mark could say that nobody selects them, so Go has to ask about each.
func (w *Worker) tellLoop() {
	if w.loop == nil {
		return
	}
	for i := range w.links {
		w.loop.SetPlain(i, w.stages.dropper.On && w.links[i].Droppable || w.Captures.AsksPlain(i))
	}
}

// goOn does the rest with the burst at hand of link p, where C has stopped.
func (w *Worker) goOn(p *burst.Served, b *burst.Burst, why fast.Why) {
	l := w.loop
	b.N = int(l.N)
	switch why {
	case fast.Due:
		w.stages.toHost(p, b)
	case fast.Begun:
		b.Arrive(p, burst.ToHost)
		w.stages.afterMatch(b)
	case fast.Sent:
		b.Begin(p, burst.ToHost)
		w.Captures.Pass()
		w.exchanged(p, b, b.Vec, b.N, int(l.Transmitted), int(l.Received), l.Now)
		return
	}
	w.exchange(p, b)
}
