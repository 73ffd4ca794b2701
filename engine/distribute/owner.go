// The owner of a port: receives, hands packets to workers by their flows, sends what others
// have handed over.

package distribute

import (
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
)

// Handler is what the owner of a port asks about packets. The worker that receives calls it.
type Handler interface {
	// Hash makes h[i] a hash of the flow of v[i], for each of v[:n].
	Hash(v *mbuf.Vec, n int, h *[mbuf.MaxBurst]uint8)
	// Lost takes v[:n], which found a ring full.
	Lost(v *mbuf.Vec, n int)
}

// owner is what the worker that receives has besides its queue.
type owner struct {
	rx      []Driver
	next    int // of rx
	handler Handler
	spread  bool
	shares  [shareSlots]uint8 // workers by hash
	workers []handed
	lent    []*lent
	hashes  [mbuf.MaxBurst]uint8
}

// handed is what is handed to one worker.
type handed struct {
	ring    *ring.Ring // nil of the owner
	n       int        // of packets
	packets [mbuf.MaxBurst]*mbuf.Mbuf
	dropped atomic.Uint64
}

// lent are packets that another worker has handed over to be sent.
type lent struct {
	ring    *ring.Ring
	from    int
	waiting *mbuf.Vec    // taken out of the ring, and not yet taken by the port
	left    atomic.Int64 // packets in waiting
}

// rounds bounds how many bursts of others the owner receives before it goes on to its next
// port: its own ticks and queues wait meanwhile.
const rounds = 4

// receive receives until there is a packet for the owner in v, or nothing is there any more.
func (o *owner) receive(q *Queue, v *mbuf.Vec) int {
	for range rounds {
		n := o.burst(v)
		if n == 0 || o.handler == nil {
			return n
		}
		o.handler.Hash(v, n, &o.hashes)
		if n = o.deal(q, v, n); n > 0 {
			return n
		}
	}
	return 0
}

// burst receives from one of the port's queues: the first that has packets, in turns.
func (o *owner) burst(v *mbuf.Vec) int {
	for range o.rx {
		d := o.rx[o.next]
		if o.next++; o.next == len(o.rx) {
			o.next = 0
		}
		if n := d.RxBurst(v); n > 0 {
			return n
		}
	}
	return 0
}

// deal leaves in v what is the owner's, in order, hands the rest over, and returns how many
// are left.
func (o *owner) deal(q *Queue, v *mbuf.Vec, n int) (own int) {
	for i, m := range v[:n] {
		h := &o.workers[o.shares[o.hashes[i&(mbuf.MaxBurst-1)]]]
		if h.ring == nil {
			v[own] = m
			own++
			continue
		}
		h.packets[h.n&(mbuf.MaxBurst-1)] = m
		h.n++
	}
	for w := range o.workers {
		h := &o.workers[w]
		if h.n == 0 {
			continue
		}
		if sent := h.ring.PushBurst(h.packets[:h.n]); sent < h.n {
			o.lose(q, h, sent)
		}
		h.n = 0
	}
	return own
}

// lose drops what found the ring of h full.
//
//go:noinline
func (o *owner) lose(q *Queue, h *handed, sent int) {
	n := copy(q.spare[:], h.packets[sent:h.n])
	count(&h.dropped, n)
	o.handler.Lost(q.spare, n)
}

// sendLent sends what other workers have handed over, as far as the port takes it. What it
// does not take waits, in order.
func (o *owner) sendLent(tx Driver) {
	for _, l := range o.lent {
		n := int(l.left.Load())
		if n == 0 {
			if l.ring.Len() == 0 {
				continue
			}
			l.left.Store(mbuf.MaxBurst) // before they leave the ring: Empty must not miss what is on its way
			n = l.ring.Pop(l.waiting, mbuf.MaxBurst)
			l.left.Store(int64(n))
		}
		if sent := tx.TxBurst(l.waiting, n); sent > 0 {
			n = copy(l.waiting[:], l.waiting[sent:n])
			l.left.Store(int64(n))
		}
	}
}
