// Stage transmit: what leaves of a burst, bounded retries, counting, taps.

package engine

import "intsink/dpdk/mbuf"

// toTransmit returns what is to be transmitted of the burst, v[:n], in order, and frees
// the rest.
func (w *Worker) toTransmit(b *burst) (v *mbuf.Vec, n int) {
	if b.nDrop == 0 {
		return b.vec, b.n
	}
	return w.withoutDropped(b)
}

//go:noinline
func (w *Worker) withoutDropped(b *burst) (v *mbuf.Vec, n int) {
	for i := range b.n {
		if b.verdict[i] != consumed {
			b.tx[n] = b.vec[i]
			n++
		}
	}
	w.pool.FreeBulk(b.drop, b.nDrop)
	b.nDrop = 0
	return b.tx, n
}

// countSent counts v[:n] as forwarded or dropped; out has taken the first sent of them. The
// rest is offered again, and dropped if the port still refuses it.
func (w *Worker) countSent(p *linkState, to Direction, out Queue, b *burst, v *mbuf.Vec, n, sent int) {
	d := &p.counters.Direction[to]
	if sent < n {
		sent = w.retry(p, to, out, b, v, n, sent)
	}
	d.Forwarded += uint64(sent)
}

// retry is countSent for a burst that out has not taken whole. It returns how many have left.
//
//go:noinline
func (w *Worker) retry(p *linkState, to Direction, out Queue, b *burst, v *mbuf.Vec, n, sent int) int {
	var l lost
	sent = retrySend(out, v, b.drop, n, sent, &l)
	for _, why := range l.why[:l.n] {
		p.counters.Direction[to].Dropped[why]++
	}
	if x := w.captured(p); x != nil {
		x.refusedAll(w, p, to, b, &l)
	}
	w.refused(p, to, b, &l)
	w.pool.FreeBulk(b.drop, l.n)
	return sent
}

// discardTapped frees the burst of a tap.
func (w *Worker) discardTapped(p *linkState, b *burst) {
	if b.n == 0 {
		return
	}
	p.counters.Direction[ToHost].Dropped[DropTap] += uint64(b.n - b.nDrop)
	w.pool.FreeBulk(b.vec, b.n)
	b.nDrop = 0
}
