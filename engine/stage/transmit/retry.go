// Offers again what a port has not taken, and says why it did not.

package transmit

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
)

// refusalOf returns the reason why q did not take the next packet.
func refusalOf(q burst.Queue) burst.DropReason {
	if r, ok := q.(burst.Refuser); ok {
		switch r.Refusal() {
		case mbuf.RefusedTooLong:
			return burst.DropTxTooLong
		case mbuf.RefusedDown:
			return burst.DropTxDown
		case mbuf.RefusedFrame:
			return burst.DropTxRefused
		}
	}
	return burst.DropTxFull
}

// Retries bounds how often a full output queue is tried again before its
// packets are dropped: a kernel-backed driver needs a moment, a stuck one must
// not stall the worker.
const Retries = 8

// refused holds packets of a burst that a port refused: place[i] is the place of Burst.Drop[i] among
// the packets that were to be transmitted.
type refused struct {
	n     int
	place [mbuf.MaxBurst]uint8
	why   [mbuf.MaxBurst]burst.DropReason
}

// retrySend offers again what a port has not taken, v[sent:n], and returns how many of
// v[:n] have left. The others are in drop: of a full port, or one that is down, all that
// follow; a packet that it does not take alone, and those behind it are offered.
//
//go:noinline
func retrySend(q burst.Queue, v, drop *mbuf.Vec, n, sent int, l *refused) int {
	total, place := sent, sent
	n = copy(v[:], v[sent:n])
	for tries := 0; n > 0; {
		why := refusalOf(q)
		switch {
		case why == burst.DropTxFull && tries < Retries:
			tries++
		default:
			gone := 1
			if why == burst.DropTxFull || why == burst.DropTxDown {
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
