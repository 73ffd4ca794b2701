// The bursts of a queue in C: rte_eth_rx_burst with the prefetch, rte_eth_tx_burst.

#ifndef INTSINK_BURST_H
#define INTSINK_BURST_H

#include <stdbool.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include "memifrings.h"

// go_rx_burst receives up to n packets, and prefetches the first two cache lines of each. ring is that of a
// queue of net_memif, else 0.
static inline uint16_t go_rx_burst(uint16_t port, uint16_t queue, uintptr_t ring, uintptr_t vec, uint16_t n, bool prefetch) {
	struct rte_mbuf **v = (struct rte_mbuf **)vec;
	if (!go_usable(ring))
		return 0;
	uint16_t got = rte_eth_rx_burst(port, queue, v, n);
	for (uint16_t i = 0; prefetch && i < got; i++) {
		char *data = rte_pktmbuf_mtod(v[i], char *);
		rte_prefetch0(data);
		rte_prefetch0(data + 64);
	}
	return got;
}

// go_link_down says of each port that its link is known to be down, though the driver would take
// packets and lose them.
extern uint32_t go_link_down[RTE_MAX_ETHPORTS];

static inline uint16_t go_tx_burst(uint16_t port, uint16_t queue, uintptr_t ring, uintptr_t vec, uint16_t n) {
	if (!go_usable(ring) || __atomic_load_n(&go_link_down[port], __ATOMIC_RELAXED))
		return 0;
	return rte_eth_tx_burst(port, queue, (struct rte_mbuf **)vec, n);
}

#endif
