// Poll: takes bursts from all queues, in Go.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
)

// Poll takes one burst from every queue and returns how many packets it found.
// Nothing stays with the worker: what a queue delivered has left, or is dropped.
func (w *Worker) Poll() int {
	total := 0
	w.pace.polled = 0
	for i := range w.links {
		l, b := &w.links[i], w.burst
		total += w.receive(l, b)
		switch {
		case l.Host != nil:
			total += w.exchange(l, b)
		case b.N > 0:
			w.stages.transmit.Tapped(b)
		}
	}
	w.pace.busy = total > 0
	return total
}

// receive takes a burst from the INT domain through all stages but transmit; it returns its length.
func (w *Worker) receive(l *burst.Served, b *burst.Burst) int {
	if b.N = l.Network.RxBurst(b.Vec); b.N > 0 {
		b.Now = w.received(b.N)
		w.stages.toHost(l, b)
	}
	return b.N
}

// received counts the burst of n packets that was just received, and is its time.
func (w *Worker) received(n int) int64 {
	now := w.clock()
	w.pace.received(n, now)
	return now
}

// exchange transmits the burst to the host, and takes the burst that comes from there to the
// network; it returns the length of the latter. On the host port both are one call, so that a
// poll with a quiet host costs two calls. On the network port they are not: packets received
// with a transmission would have to be held over ticks, reloads and Stop.
func (w *Worker) exchange(l *burst.Served, b *burst.Burst) int {
	v, n := w.stages.transmit.Gather(b)
	sent, received := l.Host.Exchange(v, n, b.Back)
	now := b.Now
	if received > 0 {
		now = w.received(received) // before anything is tried again
	}
	w.exchanged(l, b, v, n, sent, received, now)
	return received
}

// exchanged goes on where the host port has taken the first sent of v[:n], and so many packets
// have been received from it, at now.
func (w *Worker) exchanged(l *burst.Served, b *burst.Burst, v *mbuf.Vec, n, sent, received int, now int64) {
	w.stages.sent(b, l.Host, v, n, sent)
	if received > 0 {
		b.Vec, b.Back = b.Back, b.Vec
		b.N, b.Now = received, now
		w.stages.toNetwork(l, b)
	}
}
