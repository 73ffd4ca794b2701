// Absent: a queue that no device stands behind.

package ethdev

/*
#cgo CFLAGS: -DALLOW_EXPERIMENTAL_API
#include "memifrings.h"

// go_no_ring returns a ring that its peer never gives, 0 where there is no memory.
static uintptr_t go_no_ring(void) {
	static struct rte_intr_handle *never;
	if (never == NULL && (never = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE)) != NULL)
		rte_intr_fd_set(never, -1);
	return never == NULL ? 0 : (uintptr_t)&never;
}
*/
import "C"

import (
	"errors"
	"sync"
)

var noRing = sync.OnceValue(func() C.uintptr_t { return C.go_no_ring() })

// Absent returns a queue of a device that is not there: nothing arrives, and what is sent is refused as
// with a link that is down (mbuf.RefusedDown). To the packet path it is a queue of net_memif whose peer
// is away, which costs other queues nothing.
func Absent() (*Queue, error) {
	if noRing() == 0 {
		return nil, errors.New("no memory for the queue of a device that is not there")
	}
	return &Queue{rxRing: noRing(), txRing: noRing()}, nil
}
