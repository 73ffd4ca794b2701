// Absent, Found, Lost: a queue whose device comes and goes while it is used.

package ethdev

/*
#cgo CFLAGS: -DALLOW_EXPERIMENTAL_API
#include "burst.h"

// go_no_ring returns a ring that its peer never gives, 0 where there is no memory.
static uintptr_t go_no_ring(void) {
	static struct rte_intr_handle *never;
	if (never == NULL && (never = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE)) != NULL)
		rte_intr_fd_set(never, -1);
	return never == NULL ? 0 : (uintptr_t)&never;
}

static void go_set_rings(struct go_queue *q, uintptr_t rx, uintptr_t tx) {
	__atomic_store_n(&q->rx_ring, rx, __ATOMIC_RELEASE);
	__atomic_store_n(&q->tx_ring, tx, __ATOMIC_RELEASE);
}
*/
import "C"

import (
	"errors"
	"sync"
)

var noRing = sync.OnceValue(func() C.uintptr_t { return C.go_no_ring() })

// Absent returns a queue of a device that is not there: nothing arrives, and what is sent is refused as
// with a link that is down (mbuf.RefusedDown). To the packet path it is a queue of net_memif whose peer
// is away, which costs other queues nothing.
func Absent() (*Queue, error) {
	q := newQueue()
	q.Lost()
	if q.c.rx_ring == 0 {
		return nil, errors.New("no memory for the queue of a device that is not there")
	}
	return q, nil
}

// Found makes an absent queue queue pair n of p, which has been started. Who uses the queue may go on meanwhile.
func (q *Queue) Found(p Port, n uint16) {
	q.c.port, q.c.queue, q.c.prefetch = C.uint16_t(p.id), C.uint16_t(n), C.bool(p.mustPrefetch())
	C.go_set_rings(q.c, p.rxRing(n), p.txRing(n))
}

// Lost makes the queue an absent one. Who uses it may go on meanwhile; the burst at hand is the last one that goes
// to the port: until it is over, the port must stay, and the queue must not be found again.
func (q *Queue) Lost() { C.go_set_rings(q.c, noRing(), noRing()) }
