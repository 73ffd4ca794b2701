// captureQueue: stands in front of a link's queue while a capture runs, and sees the packets that
// are received and sent there.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/capture"
)

// captureQueue stands in front of a link's queue while a capture runs: the packet path knows
// nothing of captures, and costs nothing more while there is none.
type captureQueue struct {
	Queue
	w    *Worker
	link int
	host bool
}

// RxBurst begins a new poll of the link: it publishes the packets captured in the poll before.
func (q *captureQueue) RxBurst(v *mbuf.Vec) int {
	x := q.w.capture
	x.begin()
	if q.w.burst.now >= x.Until {
		q.w.endCapture()
	}
	return q.Queue.RxBurst(v)
}

// Exchange sends a burst to the host. What comes from there is captured once its events are
// known, when it is sent.
func (q *captureQueue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	w := q.w
	x, b := w.capture, w.burst
	place := 0
	for i := range b.n {
		if b.verdict[i] == consumed || place >= n {
			continue
		}
		x.at[place] = uint8(i)
		if x.picked>>i&1 != 0 {
			x.record = capture.Record{Link: q.link}
			x.out[place] = x.take(w, b, i, tx[place], capture.Out)
		}
		place++
	}
	return q.Queue.Exchange(tx, n, rx)
}

// TxBurst sends a burst to the network, or tries again what a port has not taken.
func (q *captureQueue) TxBurst(v *mbuf.Vec, n int) int {
	w := q.w
	x, b := w.capture, w.burst
	if q.host || x.sent {
		return q.Queue.TxBurst(v, n)
	}
	x.turn()
	x.sent = true
	place := 0
	for i := range b.n {
		if b.verdict[i] == consumed {
			continue
		}
		x.at[place] = uint8(i)
		x.fromHost(w, &w.links[q.link], b, i, false, 0)
		if x.picked>>i&1 != 0 {
			x.record = capture.Record{Link: q.link, ToNetwork: true}
			x.out[place] = x.take(w, b, i, v[place], capture.Out)
		}
		place++
	}
	return q.Queue.TxBurst(v, n)
}

// Refusal implements Refuser: it asks the link's own queue.
func (q *captureQueue) Refusal() mbuf.Refusal {
	if r, ok := q.Queue.(Refuser); ok {
		return r.Refusal()
	}
	return 0
}
