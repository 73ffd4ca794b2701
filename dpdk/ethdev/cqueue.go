// InC: a queue for loops in C.

package ethdev

/*
#include <stdlib.h>
#include "burst.h"

struct go_queue {
	uintptr_t rx_ring, tx_ring;
	uint16_t port, queue, max;
	bool prefetch;
};

static uint16_t go_queue_receive(uint64_t at, struct rte_mbuf **vec) {
	const struct go_queue *q = (const struct go_queue *)at;
	return go_rx_burst(q->port, q->queue, q->rx_ring, (uintptr_t)vec, q->max, q->prefetch);
}
static uint16_t go_queue_transmit(uint64_t at, struct rte_mbuf **vec, uint16_t n) {
	const struct go_queue *q = (const struct go_queue *)at;
	return go_tx_burst(q->port, q->queue, q->tx_ring, (uintptr_t)vec, n);
}
static uintptr_t go_receive_address(void) { return (uintptr_t)go_queue_receive; }
static uintptr_t go_transmit_address(void) { return (uintptr_t)go_queue_transmit; }
*/
import "C"

import (
	"unsafe"

	"intsink/dpdk/mbuf"
)

// InC returns the queue for loops in C, while the port runs. It takes a few bytes that are never given
// back: to be called once.
func (q *Queue) InC() mbuf.CQueue {
	c := (*C.struct_go_queue)(C.calloc(1, C.sizeof_struct_go_queue)) // panics where there is no memory
	*c = C.struct_go_queue{rx_ring: q.rxRing, tx_ring: q.txRing, port: q.port, queue: q.queue, max: mbuf.MaxBurst, prefetch: q.prefetch}
	return mbuf.CQueue{
		Queue:    uintptr(unsafe.Pointer(c)),
		Receive:  uintptr(C.go_receive_address()),
		Transmit: uintptr(C.go_transmit_address()),
	}
}
