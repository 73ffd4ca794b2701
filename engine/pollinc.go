// Polling in C (fast.Loop): when it may, what Go does when C stops, and how its counts are taken over.

package engine

import (
	"math"
	"slices"

	"intsink/dpdk/mbuf"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
)

// inC is a Queue that loops in C can use by themselves, as ethdev.Queue is: its methods in Go are passed by
// then.
type inC interface{ InC() mbuf.CQueue }

// makeLoop has C poll the worker's links, if it can use all their queues. clock is added to
// CLOCK_MONOTONIC to get the worker's clock; 0: it cannot be got so.
func (w *Worker) makeLoop(clock int64) {
	if clock == 0 {
		return
	}
	var ends []fast.Ends
	for i := range w.links {
		network, ok := w.links[i].link.Network.(inC)
		host, both := w.links[i].link.Host.(inC)
		if !ok || !both {
			return
		}
		ends = append(ends, fast.Ends{Network: network.InC(), Host: host.InC()})
	}
	w.loop = fast.NewLoop(ends, w.detector.Announced(), clock)
}

// mayLoop tells whether C can poll now. It cannot while a question is answered between polls, while
// the next burst takes the long way, and while bursts are left to the parser.
func (w *Worker) mayLoop() bool {
	return w.loop != nil && w.turns.left > 0 && w.queries.serving == nil && !slices.ContainsFunc(w.paths, func(p *fast.Path) bool { return !p.MayLoop() })
}

// pollInC polls in C until something is due or a burst needs more than package fast knows, and
// does the rest with that burst. It tells whether there is such a burst, or the last poll found
// packets.
func (w *Worker) pollInC(idle *Idle) (found bool) {
	l, b := w.loop, w.burst
	l.Until = fast.Until{
		Synced: w.detector.Synced(), Time: min(w.nextTick, w.reporter.Due()), LongGap: LongGaps[0],
		INT: int64(w.turns.left), INTTime: w.turns.next, MostEmpty: idle.mostEmpty(),
	}
	look, at := w.detector.NextFabricSample()
	l.Look, l.LookAt = int64(look), at
	l.Now, l.Last, l.Empty = max(l.Now, b.now), w.last, uint32(min(w.empty, math.MaxUint32))
	why := l.Run(w.paths, w.fastBurst(b, true), b.back)
	w.takeOver(l)
	if why == fast.Pause {
		return w.empty == 0
	}
	w.turnTo(&w.links[l.Link()])
	w.goOn(&w.links[l.Link()], b, why)
	return true
}

// endPollInC ends a poll of some links that C has begun: Go polls all of them next.
func (w *Worker) endPollInC() {
	if began := w.loop.Restart(); began != 0 {
		w.endPoll(true, began)
	}
}

// takeOver counts what C has counted.
func (w *Worker) takeOver(l *fast.Loop) {
	w.last, w.empty, w.polled, w.burst.now = l.Last, int(l.Empty), l.Now, l.Now
	w.pace.takeOver(l.Take(), l.Last)
	withINT := 0
	for i := range w.links {
		passed, c := l.Passed(i), w.links[i].counters
		c.Direction[ToHost].Received += passed.Received
		c.Direction[ToHost].Forwarded += passed.Forwarded
		c.INT[inthdr.MX] += passed.MX
		c.INT[inthdr.MD] += passed.INT - passed.MX
		withINT += int(passed.INT)
	}
	w.turns.count(withINT)
	w.detector.SampleFabric(l.Now, withINT)
}

// goOn does the rest with the burst at hand of a link, where C has stopped.
func (w *Worker) goOn(p *linkState, b *burst, why fast.Why) {
	l := w.loop
	b.n = int(l.N)
	switch why {
	case fast.Due:
		w.toHost(p, b)
	case fast.Begun:
		w.begin(p, b)
		w.afterReceive(p, b, false)
	case fast.Sent:
		b.clear()
		w.exchanged(p, b, b.vec, b.n, int(l.Transmitted), int(l.Received), l.Now)
		return
	}
	w.exchange(p, b)
}
