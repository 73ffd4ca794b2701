// The ring of a queue of net_memif.

#ifndef INTSINK_MEMIFRINGS_H
#define INTSINK_MEMIFRINGS_H

#include <stdbool.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>

// go_memif_queue is the beginning of struct memif_queue, which DPDK has in
// drivers/net/memif/rte_eth_memif.h and does not install; it is the same from 21.11 to 25.11.
struct go_memif_queue {
	struct rte_mempool *mempool; // NULL of a tx queue
	void *pmd;
	int type;
	uint16_t region, in_port;
	uint32_t ring_offset;
	uint16_t last_head, last_tail;
	struct rte_mbuf **buffers;
	uint64_t packets, bytes;
	struct rte_intr_handle *intr_handle;
};

// go_usable reports whether the peer has given the queue a ring; 0 is a queue of another
// driver.
static inline bool go_usable(uintptr_t queue) {
	return queue == 0 || rte_intr_fd_get(((struct go_memif_queue *)queue)->intr_handle) >= 0;
}

#endif
