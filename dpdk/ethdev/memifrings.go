// Which queues of a memif port have a ring: the peer decides, after the port has started.

package ethdev

/*
// rte_intr_fd_get is experimental up to DPDK 22.11.
#cgo CFLAGS: -DALLOW_EXPERIMENTAL_API
#include <rte_malloc.h>
#include <rte_memory.h>
#include "memifrings.h"

// go_memif_queue is the beginning of struct memif_queue, which DPDK has in
// drivers/net/memif/rte_eth_memif.h and does not install. Counters stand behind it, two in DPDK
// 22.11 and three in 24.11, and then the handle of the interrupt.
struct go_memif_queue {
	struct rte_mempool *mempool; // NULL of a tx queue
	void *pmd;
	int type;
	uint16_t region, in_port;
	uint32_t ring_offset;
	uint16_t last_head, last_tail;
	struct rte_mbuf **buffers;
	void *rest[];
};

enum { GO_MEMIF_REST = 8 }; // words behind the beginning to look for the handle in

// go_is_handle: at is memory of EAL's, from its start on, and says that it is a handle as net_memif makes one.
static bool go_is_handle(void *at) {
	size_t size;
	return at != NULL && ((uintptr_t)at & 63) == 0 && rte_mem_virt2memseg(at, NULL) != NULL &&
		rte_malloc_validate(at, &size) == 0 && size >= sizeof(int) &&
		rte_intr_type_get((struct rte_intr_handle *)at) == RTE_INTR_HANDLE_EXT;
}

// go_memif_handle is which word it is, as a queue of this process shows; -1: not known.
static int go_memif_handle = -1;

// go_memif_slot is where the queue has its handle, 0 where that is not known or the queue does not look like one.
static uintptr_t go_memif_slot(struct go_memif_queue *q, uint16_t port) {
	if (q == NULL || q->in_port != port)
		return 0;
	for (int i = 0; go_memif_handle < 0 && i < GO_MEMIF_REST; i++)
		if (go_is_handle(q->rest[i]))
			go_memif_handle = i;
	return go_memif_handle >= 0 && go_is_handle(q->rest[go_memif_handle]) ? (uintptr_t)&q->rest[go_memif_handle] : 0;
}
static uintptr_t go_memif_rx(uint16_t port, uint16_t queue) {
	struct go_memif_queue *q = rte_eth_fp_ops[port].rxq.data[queue];
	return q != NULL && q->mempool != NULL ? go_memif_slot(q, port) : 0;
}
static uintptr_t go_memif_tx(uint16_t port, uint16_t queue) {
	struct go_memif_queue *q = rte_eth_fp_ops[port].txq.data[queue];
	return q != NULL && q->mempool == NULL ? go_memif_slot(q, port) : 0;
}

// go_memif_known: each queue of the port has its handle where it can be found.
static bool go_memif_known(uint16_t port) {
	struct rte_eth_dev_info info;
	if (rte_eth_dev_info_get(port, &info) != 0)
		return false;
	for (uint16_t q = 0; q < info.nb_rx_queues; q++)
		if (go_memif_rx(port, q) == 0)
			return false;
	for (uint16_t q = 0; q < info.nb_tx_queues; q++)
		if (go_memif_tx(port, q) == 0)
			return false;
	return true;
}
static int go_has_ring(uintptr_t slot) { return slot != 0 && go_usable(slot); }
*/
import "C"

import (
	"fmt"

	"intsink/dpdk/eal"
)

// A memif port has as many rings as its client has asked for, at most as many as both sides
// have queues (memif_msg_receive_add_ring). The driver does not stop anybody from using a
// queue that has got none: it takes what stands at the start of the shared memory, the
// first ring of the client, for that queue's ring, and so damages it. So each burst asks first
// whether its queue has the descriptor of an interrupt, which those with a ring have while
// the port is connected.

const memifDriver = "net_memif"

// knownRings is an error where p, which has started, is of a net_memif whose queues are not as
// in the versions of DPDK that this program knows.
func (p Port) knownRings() error {
	if !p.isMemif() || bool(C.go_memif_known(C.uint16_t(p.id))) {
		return nil
	}
	return fmt.Errorf("%s: net_memif of %s keeps its queues in a way that intsink does not know, "+
		"so it could not tell which of them the peer uses: take DPDK 22.11 or 24.11, or another driver", p.Name(), eal.Version())
}

// rxRing is what bursts ask whether queue n of p may be used, 0 where p is not one of net_memif. The port has
// been started: before, DPDK does not tell where its queues are.
func (p Port) rxRing(n uint16) C.uintptr_t {
	if !p.isMemif() {
		return 0
	}
	return C.go_memif_rx(C.uint16_t(p.id), C.uint16_t(n))
}

// txRing is rxRing of the tx queue.
func (p Port) txRing(n uint16) C.uintptr_t {
	if !p.isMemif() {
		return 0
	}
	return C.go_memif_tx(C.uint16_t(p.id), C.uint16_t(n))
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
