// InC: a queue for loops in C.

package ethdev

/*
#include "burst.h"

static uint16_t go_queue_receive(uint64_t at, struct rte_mbuf **vec) {
	return go_rx_burst((const struct go_queue *)at, (uintptr_t)vec);
}
static uint16_t go_queue_transmit(uint64_t at, struct rte_mbuf **vec, uint16_t n) {
	return go_tx_burst((const struct go_queue *)at, (uintptr_t)vec, n);
}
static uintptr_t go_receive_address(void) { return (uintptr_t)go_queue_receive; }
static uintptr_t go_transmit_address(void) { return (uintptr_t)go_queue_transmit; }
*/
import "C"

import (
	"unsafe"

	"intsink/dpdk/mbuf"
)

// InC returns the queue for loops in C.
func (q *Queue) InC() mbuf.CQueue {
	return mbuf.CQueue{
		Queue:    uintptr(unsafe.Pointer(q.c)),
		Receive:  uintptr(C.go_receive_address()),
		Transmit: uintptr(C.go_transmit_address()),
	}
}
