// The ring of a queue of net_memif.

#ifndef INTSINK_MEMIFRINGS_H
#define INTSINK_MEMIFRINGS_H

#include <stdbool.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>

// go_usable reports whether the peer has given a queue its ring. ring is where the driver keeps the
// handle of the queue's interrupt; 0: a queue of another driver.
static inline bool go_usable(uintptr_t ring) {
	return ring == 0 || rte_intr_fd_get(*(struct rte_intr_handle **)ring) >= 0;
}

#endif
