// Which queues of a memif port have a ring: the peer decides, after the port has started.

package ethdev

/*
// rte_intr_fd_get is experimental up to DPDK 22.11.
#cgo CFLAGS: -DALLOW_EXPERIMENTAL_API
#include "memifrings.h"

// go_memif_rx and go_memif_tx are the queue as the driver keeps it, 0 where it does not look
// like one.
static uintptr_t go_memif_rx(uint16_t port, uint16_t queue) {
	struct go_memif_queue *q = rte_eth_fp_ops[port].rxq.data[queue];
	return q != NULL && q->mempool != NULL && q->in_port == port && q->intr_handle != NULL ? (uintptr_t)q : 0;
}
static uintptr_t go_memif_tx(uint16_t port, uint16_t queue) {
	struct go_memif_queue *q = rte_eth_fp_ops[port].txq.data[queue];
	return q != NULL && q->mempool == NULL && q->in_port == port && q->intr_handle != NULL ? (uintptr_t)q : 0;
}
static int go_has_ring(uintptr_t q) { return q != 0 && go_usable(q); }
*/
import "C"

// A memif port has as many rings as its client has asked for, at most as many as both sides
// have queues (memif_msg_receive_add_ring). The driver does not stop anybody from using a
// queue that has got none: it takes what stands at the start of the shared memory, the
// first ring of the client, for that queue's ring, and so damages it. So each burst asks first
// whether its queue has the descriptor of an interrupt, which those with a ring have while
// the port is connected.

const memifDriver = "net_memif"

// findRings makes the bursts of q ask for its rings, if q is a queue of net_memif. The port
// has been started: before, DPDK does not tell where its queues are.
func (q *Queue) findRings(p Port) {
	if p.isMemif() {
		q.rxRing, q.txRing = C.go_memif_rx(q.port, q.queue), C.go_memif_tx(q.port, q.queue)
	}
}

// Rings are the numbers of rx and tx queues, of the first n, that the peer of a memif port
// has given a ring each, none while it is not connected. False: the port is not one of
// net_memif. The port has been started.
func (p Port) Rings(n int) (rx, tx int, ok bool) {
	if !p.isMemif() {
		return 0, 0, false
	}
	for i := range n {
		rx += int(C.go_has_ring(C.go_memif_rx(C.uint16_t(p.id), C.uint16_t(i))))
		tx += int(C.go_has_ring(C.go_memif_tx(C.uint16_t(p.id), C.uint16_t(i))))
	}
	return rx, tx, true
}

// Negotiated reports whether it is up to the peer, while the port runs, which queues can be
// used.
func (q *Queue) Negotiated() bool { return q.txRing != 0 }
