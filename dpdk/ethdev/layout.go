package ethdev

/*
#include <stddef.h>
#include <rte_mbuf_core.h>

static size_t go_mbuf_offset(int field) {
	switch (field) {
	case 0: return offsetof(struct rte_mbuf, buf_addr);
	case 1: return offsetof(struct rte_mbuf, data_off);
	case 2: return offsetof(struct rte_mbuf, refcnt);
	case 3: return offsetof(struct rte_mbuf, nb_segs);
	case 4: return offsetof(struct rte_mbuf, port);
	case 5: return offsetof(struct rte_mbuf, ol_flags);
	case 6: return offsetof(struct rte_mbuf, pkt_len);
	case 7: return offsetof(struct rte_mbuf, data_len);
	case 8: return offsetof(struct rte_mbuf, buf_len);
	case 9: return offsetof(struct rte_mbuf, next);
	}
	return sizeof(struct rte_mbuf);
}
*/
import "C"

import "intsink/dpdk/mbuf"

// MbufLayout is where C has the fields that dpdk/mbuf uses, in the order of
// mbuf.Layout; a test compares the two.
func MbufLayout() []uintptr {
	offsets := make([]uintptr, len(mbuf.Layout()))
	for i := range offsets {
		offsets[i] = uintptr(C.go_mbuf_offset(C.int(i)))
	}
	return offsets
}
