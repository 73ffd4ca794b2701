// Package mbuf lets Go read and write DPDK packet buffers in place.
//
// Mbuf has the memory layout of struct rte_mbuf (DPDK 22.11, rte_mbuf_core.h):
// dpdk/ethdev does not compile against a DPDK that lays it out otherwise, and a
// test there compares every offset. Nothing here crosses into C: buffers come from
// dpdk/mempool, or from an Arena where there is no DPDK.
//
//	buf_addr      data_off           data_len
//	   |--headroom----|-----packet bytes-----|--tailroom--|
//	                  |<------------- Room -------------->|
//
// A packet longer than one buffer is a chain: Next of each segment but the last.
// PktLen and NbSegs of the first segment count the whole chain.
//
// An mbuf has one owner, a goroutine, at a time; no method is safe for two. It
// changes hands through a port's queue, a pool or a ring.
//
//	m := v[0]
//	if m.Pullup(42) { parse(m.Bytes()[:42]) } // headers in one piece
//	m.Adj(14)                                 // without its Ethernet header
package mbuf
