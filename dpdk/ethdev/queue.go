// Queue: RxBurst, TxBurst and Exchange, one call into C each (rte_eth_rx_burst,
// rte_eth_tx_burst).

package ethdev

/*
#cgo noescape go_rx_burst
#cgo nocallback go_rx_burst
#cgo noescape go_tx_burst
#cgo nocallback go_tx_burst
#cgo noescape go_exchange
#cgo nocallback go_exchange
#include <stdlib.h>
#include "burst.h"

// go_exchange returns how many were sent in the upper half, how many were received in the lower.
static inline uint32_t go_exchange(const struct go_queue *q, uintptr_t tx, uint16_t n, uintptr_t rx) {
	uint32_t sent = n > 0 ? go_tx_burst(q, tx, n) : 0;
	return sent << 16 | go_rx_burst(q, rx);
}
static inline int go_rx_queue_count(const struct go_queue *q) {
	return go_receives(q) ? rte_eth_rx_queue_count(q->port, q->queue) : -1;
}
*/
import "C"

import "intsink/dpdk/mbuf"

// Queue is one rx and one tx queue of a port with the same number. One
// goroutine at a time may use it.
type Queue struct {
	c *C.struct_go_queue // in C's memory, where loops in C have it, too
}

// newQueue takes a few bytes that are never given back.
func newQueue() *Queue {
	q := &Queue{(*C.struct_go_queue)(C.calloc(1, C.sizeof_struct_go_queue))} // panics where there is no memory
	q.c.max = mbuf.MaxBurst
	return q
}

// Queue returns queue pair n, which must be configured, of a port that has been started. It is to be
// called once for each use of the queue, not for each burst.
func (p Port) Queue(n uint16) *Queue {
	q := newQueue()
	q.Found(p, n)
	return q
}

// RxBurst receives up to a vector full of packets (rte_eth_rx_burst) and prefetches the
// first 128 bytes of each, unless the driver has just copied them. One call into C.
func (q *Queue) RxBurst(v *mbuf.Vec) int { return int(C.go_rx_burst(q.c, C.uintptr_t(v.Addr()))) }

// TxBurst hands v[:n] to the port and returns how many it took, from the front
// (rte_eth_tx_burst). The rest stay the caller's. One call into C.
func (q *Queue) TxBurst(v *mbuf.Vec, n int) int {
	return int(C.go_tx_burst(q.c, C.uintptr_t(v.Addr()), C.uint16_t(n)))
}

// Exchange hands tx[:n] to the port as TxBurst does, then receives into rx, another
// vector, as RxBurst does. n may be 0: nothing is transmitted then. One call into C.
func (q *Queue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	both := C.go_exchange(q.c, C.uintptr_t(tx.Addr()), C.uint16_t(n), C.uintptr_t(rx.Addr()))
	return int(both >> 16), int(both & 0xffff)
}

// Depth is the number of packets that wait in the rx queue (rte_eth_rx_queue_count);
// negative where the driver cannot tell.
func (q *Queue) Depth() int { return int(C.go_rx_queue_count(q.c)) }
