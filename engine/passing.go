// PassAll: packets pass as they came, with their INT, while a worker cannot keep up.

package engine

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
	clear(b.verdict[:])
	b.parsed, b.fresh, b.reportable, b.keeps = 0, 0, 0, 0
	w.fast.Clear()
	if x := w.captured(p); x != nil {
		x.passedOn(w, p, b)
	}
}
