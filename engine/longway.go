// Bursts off the usual way: turns decide which burst is captured, mitigated, sampled or
// verified; longWay does that before strip and after; PassAll lets all pass as they came.

package engine

import (
	"math"
)

// One INT packet in checksumPackets has its checksum sampled, and one a second where there
// are fewer.
const (
	checksumPackets  = 1024
	checksumInterval = 1e9
)

// turns say which bursts take the long way (longway.go). The usual ones compare two numbers;
// whatever else there is to do now and then makes itself due through them, so that it costs
// nothing while it is not configured.
type turns struct {
	left  int   // INT packets until the next burst that takes the long way
	next  int64 // or the time, whichever is first
	armed int   // left, as it was when it was set
	every bool  // all bursts are due: a capture runs, or rules of mitigation are in force
	never bool  // without hosts there is nothing to sample

	sample   int   // INT packets until the next sample of checksums
	sampleBy int64 // or its time
	verify   int   // INT packets until the next one that is verified
	interval int   // between these; 0: none is
}

// due reports whether the burst at hand takes the long way.
func (t *turns) due(now int64) bool { return t.left <= 0 || now >= t.next }

// count counts n INT packets.
func (t *turns) count(n int) { t.left -= n }

// settle subtracts the packets counted since the last arm from the packets that are left until
// the next sample and the next verification.
func (t *turns) settle() {
	n := t.armed - t.left
	t.sample -= n
	t.verify -= n
	t.armed = t.left
}

// sampled makes the next sample due in its time.
func (t *turns) sampled(now int64) { t.sample, t.sampleBy = checksumPackets, now+checksumInterval }

// arm says when the next burst takes the long way. A burst without INT has nothing to sample
// or to verify: then it is the one after the next INT packet.
func (t *turns) arm(now int64, noINT bool) {
	t.left, t.next = t.sample, t.sampleBy
	if t.interval > 0 {
		t.left = min(t.left, t.verify)
	}
	if noINT {
		t.left, t.next = max(t.left, 1), max(t.next, now+checksumInterval)
	}
	if t.never {
		t.left, t.next = math.MaxInt, math.MaxInt64
	}
	if t.every {
		t.left = 0
	}
	t.armed = t.left
}

// setInterval has one INT packet in n verified, from the next one on; 0: none.
func (t *turns) setInterval(n int) {
	if n != t.interval {
		t.interval, t.verify = n, 0
	}
}

// aside prepares the long way for the burst at hand, which turns made due; false: the burst
// takes the usual way after all.
//
//go:noinline
func (w *Worker) aside(p *linkState, b *burst) bool {
	t := &w.turns
	t.settle()
	host := p.link.Host != nil
	w.picks.sample = host && (t.sample <= 0 || b.now >= t.sampleBy)
	w.picks.verify = host && t.interval > 0 && t.verify <= 0
	w.selects.any = w.mitigation != nil && p.link.Mitigation && w.selectPackets(p, b)
	if w.captured(p) != nil || w.picks.sample || w.picks.verify || w.selects.any {
		return true
	}
	t.arm(b.now, !host)
	return false
}

// longWay takes a burst through the stages behind parse. toHost calls it if packets of the burst
// are captured, sampled, verified or dropped by a rule: they are looked at before INT is taken
// out and after. All packets still have their INT. The detector sees packets before rules of
// mitigation drop them: the sink's own drops are no loss of the network.
//
//go:noinline
func (w *Worker) longWay(p *linkState, b *burst, parsed bool) {
	watched, n := len(w.rules.Watches) > 0, w.fast.Len()
	if watched && n > 0 {
		w.watch(p, b, parsed)
	}
	if w.selects.any {
		w.dropSelected(p, b, watched)
	}
	x := w.captured(p)
	if x != nil {
		x.arrived(w, p, b, watched)
	}
	w.picks.begin(&w.turns, b)
	switch {
	case n == 0:
	case !watched:
		w.stripUnwatched(p, b)
	case p.link.Host != nil:
		w.strip(p, b)
	}
	if x != nil {
		x.stripped(w, p, b)
	}
	w.picks.end(b, p.counters)
	if w.picks.verified.bad != nil {
		w.noteBad(p, b)
	}
	w.turns.arm(b.now, n == 0)
	w.turns.count(n)
}

// setEvery makes all bursts take the long way, or only those that have to.
func (w *Worker) setEvery() {
	w.turns.settle()
	w.turns.every = w.mitigation != nil || w.passing || w.capture != nil
	w.turns.arm(w.polled, false)
}

// PassAll makes packets pass as they came from the next tick on, both ways, with their INT,
// and without anything being known of them: that is all a worker does that cannot keep up.
// Rules of mitigation drop none meanwhile. False ends it. Safe from any goroutine.
func (w *Worker) PassAll(pass bool) {
	w.askedPass.Store(pass)
	w.changed.Store(true)
}

// passOn is toHost for a burst that passes as it came.
//
//go:noinline
func (w *Worker) passOn(p *linkState, b *burst) {
	p.counters.Direction[ToHost].Received += uint64(b.n)
	p.counters.Passed += uint64(b.n)
	b.clear()
	w.fast.Clear()
	if x := w.captured(p); x != nil {
		x.passedOn(w, p, b)
	}
	w.hearNeighbors(p.link.NetworkStation, b)
}
