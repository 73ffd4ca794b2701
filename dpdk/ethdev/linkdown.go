// SetLinkDown: keeps a driver that does not know of its link from losing packets as if sent.

package ethdev

/*
#include "burst.h"

static void go_set_link_down(uint16_t port, bool down) { __atomic_store_n(&go_link_down[port], down, __ATOMIC_RELAXED); }
static bool go_is_link_down(uint16_t port) { return __atomic_load_n(&go_link_down[port], __ATOMIC_RELAXED); }
*/
import "C"

import "intsink/dpdk/mbuf"

// SetLinkDown makes the queues of p refuse packets (mbuf.RefusedDown) until it is called with
// false: for a driver that stands on an interface of the kernel, as net_pcap does. It hands
// packets to the interface whatever state that is in, and counts them as sent. It may be
// called from any goroutine.
func (p Port) SetLinkDown(down bool) { C.go_set_link_down(C.uint16_t(p.id), C.bool(down)) }

// Refusal says why the last TxBurst did not take the packet behind those that it took: the link
// is down, as SetLinkDown was told, or as the lack of a ring of net_memif tells.
func (q *Queue) Refusal() mbuf.Refusal {
	if bool(C.go_is_link_down(q.port)) || !bool(C.go_usable(q.txRing)) {
		return mbuf.RefusedDown
	}
	return mbuf.RefusedFull
}
