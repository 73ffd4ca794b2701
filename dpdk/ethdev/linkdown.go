// SetLinkDown: keeps a driver that does not know of its link from losing packets as if sent.

package ethdev

/*
#include "burst.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"intsink/dpdk/mbuf"
)

// SetLinkDown makes the queues of p refuse packets (mbuf.RefusedDown) until it is called with
// false: for a driver that stands on an interface of the kernel, as net_pcap does. It hands
// packets to the interface whatever state that is in, and counts them as sent. It may be
// called from any goroutine.
func (p Port) SetLinkDown(down bool) {
	var n uint32
	if down {
		n = 1
	}
	atomic.StoreUint32(linkDown(p.id), n)
}

// linkDown is where go_tx_burst finds whether the port's link is down.
func linkDown(port uint16) *uint32 {
	// SAFETY: a port's number is below RTE_MAX_ETHPORTS, the length of the array, which C never frees.
	return (*uint32)(unsafe.Pointer(&C.go_link_down[port]))
}

// Refusal says why the last TxBurst did not take the packet behind those that it took: there is no device, the link
// is down, as SetLinkDown was told, or as the lack of a ring of net_memif tells; or the queue is full.
func (q *Queue) Refusal() mbuf.Refusal {
	if !bool(C.go_transmits(q.c)) || bool(C.go_is_down(q.c)) {
		return mbuf.RefusedDown
	}
	return mbuf.RefusedFull
}
