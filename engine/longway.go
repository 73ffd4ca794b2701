// The long way of a burst: shows its packets to capture, mitigation and checksum samples before
// strip and after it.

package engine

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

// longWay is what follows parse in toHost for a burst of which some packets are looked at
// before INT is taken out, and after. All packets have their INT still. Packets that rules
// of mitigation drop are seen by the detector before: the sink's own drops are no loss of
// the network.
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
