// Package mempool makes and uses DPDK packet buffer pools (rte_mempool,
// rte_pktmbuf_pool_create).
//
// A worker takes and gives buffers in bursts, one call into C each:
//
//	pool, err := mempool.New("packets", 65535, 256, 2176, mempool.AnySocket)
//	v := mbuf.NewVec()
//	if pool.AllocBulk(v, 32) { ... } // v[:32] are the caller's now
//	pool.FreeBulk(v, 32)
//
// Whoever holds an mbuf owns it: until it is freed, transmitted or pushed into a
// ring. A pool is freed when all its mbufs are home.
package mempool
