// The bursts of a queue in C: rte_eth_rx_burst with the prefetch, rte_eth_tx_burst.

#ifndef INTSINK_BURST_H
#define INTSINK_BURST_H

#include <stdbool.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include "memifrings.h"

// go_queue is one rx and one tx queue of a port with the same number, for one thread at a time. Another thread may
// give it a device, or take that away, meanwhile (absent.go): port and queue hold once the rings do.
struct go_queue {
	uintptr_t rx_ring, tx_ring; // of net_memif, else 0
	uint16_t port, queue, max;
	bool prefetch;
};

static inline bool go_receives(const struct go_queue *q) {
	return go_usable(__atomic_load_n(&q->rx_ring, __ATOMIC_ACQUIRE));
}
static inline bool go_transmits(const struct go_queue *q) {
	return go_usable(__atomic_load_n(&q->tx_ring, __ATOMIC_ACQUIRE));
}

// go_rx_burst receives up to q->max packets, and prefetches the first two cache lines of each.
static inline uint16_t go_rx_burst(const struct go_queue *q, uintptr_t vec) {
	struct rte_mbuf **v = (struct rte_mbuf **)vec;
	if (!go_receives(q))
		return 0;
	uint16_t got = rte_eth_rx_burst(q->port, q->queue, v, q->max);
	for (uint16_t i = 0; q->prefetch && i < got; i++) {
		char *data = rte_pktmbuf_mtod(v[i], char *);
		rte_prefetch0(data);
		rte_prefetch0(data + 64);
	}
	return got;
}

// go_link_down says of each port that its link is known to be down, though the driver would take
// packets and lose them.
extern uint32_t go_link_down[RTE_MAX_ETHPORTS];

static inline bool go_is_down(const struct go_queue *q) {
	return __atomic_load_n(&go_link_down[q->port], __ATOMIC_RELAXED) != 0;
}

static inline uint16_t go_tx_burst(const struct go_queue *q, uintptr_t vec, uint16_t n) {
	if (!go_transmits(q) || go_is_down(q))
		return 0;
	return rte_eth_tx_burst(q->port, q->queue, (struct rte_mbuf **)vec, n);
}

#endif
