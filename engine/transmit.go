// Stage transmit: gathers what leaves of a burst, offers again what a port refused (bounded
// retries), counts what is lost and why; taps.

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

// refusalOf returns the reason why q did not take the next packet.
func refusalOf(q Queue) DropReason {
	if r, ok := q.(Refuser); ok {
		switch r.Refusal() {
		case mbuf.RefusedTooLong:
			return DropTxTooLong
		case mbuf.RefusedDown:
			return DropTxDown
		case mbuf.RefusedFrame:
			return DropTxRefused
		}
	}
	return DropTxFull
}

// txRetries bounds how often a full output queue is tried again before its
// packets are dropped: a kernel-backed driver needs a moment, a stuck one must
// not stall the worker.
const txRetries = 8

// lost holds packets of a burst that a port refused: place[i] is the place of burst.drop[i] among
// the packets that were to be transmitted.
type lost struct {
	n     int
	place [mbuf.MaxBurst]uint8
	why   [mbuf.MaxBurst]DropReason
}

// retrySend offers again what a port has not taken, v[sent:n], and returns how many of
// v[:n] have left. The others are in drop: of a full port, or one that is down, all that
// follow; a packet that it does not take alone, and those behind it are offered.
//
//go:noinline
func retrySend(q Queue, v, drop *mbuf.Vec, n, sent int, l *lost) int {
	total, place := sent, sent
	n = copy(v[:], v[sent:n])
	for tries := 0; n > 0; {
		why := refusalOf(q)
		switch {
		case why == DropTxFull && tries < txRetries:
			tries++
		default:
			gone := 1
			if why == DropTxFull || why == DropTxDown {
				gone = n
			}
			for i, m := range v[:gone] {
				drop[l.n], l.place[l.n], l.why[l.n] = m, uint8(place+i), why
				l.n++
			}
			place += gone
			n = copy(v[:], v[gone:n])
		}
		if n > 0 {
			sent = q.TxBurst(v, n)
			total, place = total+sent, place+sent
			n = copy(v[:], v[sent:n])
		}
	}
	return total
}
