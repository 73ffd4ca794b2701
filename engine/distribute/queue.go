// Queue: what one worker has of a port; it receives or takes from its ring, and sends by its
// own queue or by the owner's.

package distribute

import (
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
)

// Queue is one worker's part of a port. Only that worker calls its methods, but Depth.
type Queue struct {
	port  *Port
	pool  Pool
	owner *owner     // nil: another worker receives
	in    *ring.Ring // from the owner; nil: nothing is handed to this worker
	tx    Driver     // its own; nil: there is none
	out   *ring.Ring // to the owner; nil: nothing is sent by the owner
	spare *mbuf.Vec

	ownerTx   Driver // what the owner sends by, of queues with out
	ownerLink link   // of ownerTx; nil: it knows of no link

	prefetch func(v *mbuf.Vec, n int)

	byRing bool // the last TxBurst went to the owner
	handed *handed
	taken  atomic.Uint64
}

// Deal makes h the handler of the packets that the queue receives. It returns false if the queue
// asks no handler: only the owner's queue of a port that hands packets to workers does.
func (q *Queue) Deal(h Handler) bool {
	if q.owner == nil || !q.owner.spread {
		return false
	}
	q.owner.handler = h
	return true
}

// RxBurst receives from the port, or what the port's owner has handed over.
func (q *Queue) RxBurst(v *mbuf.Vec) int {
	if q.owner != nil {
		q.owner.sendLent(q.tx)
		if q.port.draining.Load() {
			return 0
		}
		return q.owner.receive(q, v)
	}
	if q.in == nil {
		return 0
	}
	n := q.in.Pop(v, mbuf.MaxBurst)
	if n > 0 {
		if q.prefetch != nil {
			q.prefetch(v, n)
		}
		count(&q.taken, n)
	}
	return n
}

// TxBurst hands v[:n] to the port, or to its owner, and returns how many were taken, from the
// front. The owner gets none while the port is down: they would wait until it is up again.
func (q *Queue) TxBurst(v *mbuf.Vec, n int) int {
	q.byRing = false
	if q.tx == nil && q.ownerLink != nil && q.ownerLink.LinkDown() {
		return 0
	}
	if q.tx != nil {
		sent := q.tx.TxBurst(v, n)
		if sent > 0 || n == 0 || q.out == nil || refusalOf(q.tx) != mbuf.RefusedDown || refusalOf(q.ownerTx) == mbuf.RefusedDown {
			return sent
		}
	}
	q.byRing = true
	return q.out.PushBurst(v[:n])
}

// Exchange is TxBurst of tx[:n], which may be none, and then RxBurst into rx.
func (q *Queue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	if o := q.owner; o != nil && !o.spread && len(o.lent) == 0 && len(o.rx) == 1 && o.rx[0] == q.tx && !q.port.draining.Load() {
		return q.tx.Exchange(tx, n, rx)
	}
	if n > 0 {
		sent = q.TxBurst(tx, n)
	}
	return sent, q.RxBurst(rx)
}

// Refusal is about the packet behind those that the last TxBurst took.
func (q *Queue) Refusal() mbuf.Refusal {
	switch {
	case q.byRing:
		return mbuf.RefusedFull
	case q.tx == nil:
		return mbuf.RefusedDown // for nothing else does TxBurst leave packets to the worker
	}
	return refusalOf(q.tx)
}

// refusalOf is why a driver did not take a packet.
func refusalOf(d Driver) mbuf.Refusal {
	if r, ok := d.(interface{ Refusal() mbuf.Refusal }); ok {
		return r.Refusal()
	}
	return mbuf.RefusedFull
}

// link is a Driver that knows, without asking the port, whether its link is down. Any worker may call it,
// for each burst.
type link interface{ LinkDown() bool }

// negotiated reports whether the peer of a port decides which of its queues can be used, while it
// runs (net_memif). Any worker may call Refusal of such a queue.
func negotiated(d Driver) bool {
	r, ok := d.(interface{ Negotiated() bool })
	return ok && r.Negotiated()
}

// Depth is how many packets wait for this worker; negative where the driver cannot tell.
func (q *Queue) Depth() int {
	if q.owner == nil {
		if q.in == nil {
			return 0
		}
		return q.in.Len()
	}
	sum := 0
	for _, d := range q.owner.rx {
		n := d.Depth()
		if n < 0 {
			return n
		}
		sum += n
	}
	return sum
}

// count adds n to a counter that one goroutine writes.
func count(c *atomic.Uint64, n int) { c.Store(c.Load() + uint64(n)) }
