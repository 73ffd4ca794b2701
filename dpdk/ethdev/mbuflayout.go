// MbufLayout: offsets of struct rte_mbuf as C has them, which a test compares with package
// mbuf.

package ethdev

/*
#include <stddef.h>
#include <rte_mbuf_core.h>

// Go code writes to mbufs at these offsets (dpdk/mbuf), so a DPDK that has the
// fields elsewhere must not be built against: it would corrupt packets.
#define AT(field, offset) _Static_assert(offsetof(struct rte_mbuf, field) == offset, \
	"this DPDK lays out struct rte_mbuf differently: adapt dpdk/mbuf (" #field ")")
AT(buf_addr, 0);
AT(data_off, 16);
AT(refcnt, 18);
AT(nb_segs, 20);
AT(port, 22);
AT(ol_flags, 24);
AT(pkt_len, 36);
AT(data_len, 40);
AT(buf_len, 54);
AT(next, 64);
_Static_assert(sizeof(struct rte_mbuf) == 128, "this DPDK has a larger struct rte_mbuf: adapt dpdk/mbuf");

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
