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
#include "burst.h"

// go_exchange returns how many were sent in the upper half, how many were received in the lower.
static inline uint32_t go_exchange(uint16_t port, uint16_t queue, uintptr_t txring, uintptr_t tx, uint16_t n, uintptr_t rxring, uintptr_t rx, uint16_t max, bool prefetch) {
	uint32_t sent = n > 0 ? go_tx_burst(port, queue, txring, tx, n) : 0;
	return sent << 16 | go_rx_burst(port, queue, rxring, rx, max, prefetch);
}
static inline int go_rx_queue_count(uint16_t port, uint16_t queue) {
	return rte_eth_rx_queue_count(port, queue);
}
*/
import "C"

import "intsink/dpdk/mbuf"

// Queue is one rx and one tx queue of a port with the same number. One
// goroutine at a time may use it.
type Queue struct {
	port, queue    C.uint16_t
	prefetch       C.bool
	rxRing, txRing C.uintptr_t // of net_memif: see memifrings.go; otherwise 0
}

// Queue returns queue pair q, which must be configured, of a port that has been started.
func (p Port) Queue(q uint16) *Queue {
	queue := &Queue{port: C.uint16_t(p.id), queue: C.uint16_t(q), prefetch: C.bool(p.mustPrefetch())}
	queue.findRings(p)
	return queue
}

// RxBurst receives up to a vector full of packets (rte_eth_rx_burst) and prefetches the
// first 128 bytes of each, unless the driver has just copied them. One call into C.
func (q *Queue) RxBurst(v *mbuf.Vec) int {
	return int(C.go_rx_burst(q.port, q.queue, q.rxRing, C.uintptr_t(v.Addr()), mbuf.MaxBurst, q.prefetch))
}

// TxBurst hands v[:n] to the port and returns how many it took, from the front
// (rte_eth_tx_burst). The rest stay the caller's. One call into C.
func (q *Queue) TxBurst(v *mbuf.Vec, n int) int {
	return int(C.go_tx_burst(q.port, q.queue, q.txRing, C.uintptr_t(v.Addr()), C.uint16_t(n)))
}

// Exchange hands tx[:n] to the port as TxBurst does, then receives into rx, another
// vector, as RxBurst does. n may be 0: nothing is transmitted then. One call into C.
func (q *Queue) Exchange(tx *mbuf.Vec, n int, rx *mbuf.Vec) (sent, received int) {
	both := C.go_exchange(q.port, q.queue, q.txRing, C.uintptr_t(tx.Addr()), C.uint16_t(n), q.rxRing, C.uintptr_t(rx.Addr()), mbuf.MaxBurst, q.prefetch)
	return int(both >> 16), int(both & 0xffff)
}

// Depth is the number of packets that wait in the rx queue (rte_eth_rx_queue_count);
// negative where the driver cannot tell.
func (q *Queue) Depth() int {
	if !bool(C.go_usable(q.rxRing)) {
		return -1
	}
	return int(C.go_rx_queue_count(q.port, q.queue))
}
