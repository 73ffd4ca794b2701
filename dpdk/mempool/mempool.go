// Mempool: pools of packet buffers (rte_pktmbuf_pool_create), AllocBulk and FreeBulk.

package mempool

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#cgo noescape go_prefetch
#cgo nocallback go_prefetch
#cgo noescape go_alloc_bulk
#cgo nocallback go_alloc_bulk
#cgo noescape go_free_bulk
#cgo nocallback go_free_bulk
#include <stdlib.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

static struct rte_mempool *go_pool_create(const char *name, unsigned n, unsigned cache, unsigned room, int socket, int *err) {
	struct rte_mempool *p = rte_pktmbuf_pool_create(name, n, cache, 0, (uint16_t)room, socket);
	*err = p == NULL ? rte_errno : 0;
	return p;
}
static void go_prefetch(uintptr_t vec, unsigned n) {
	struct rte_mbuf **v = (struct rte_mbuf **)vec;
	for (unsigned i = 0; i < n; i++) {
		rte_prefetch0(v[i]);
		rte_prefetch0((char *)v[i] + RTE_CACHE_LINE_MIN_SIZE);
		char *data = (char *)(v[i] + 1) + RTE_PKTMBUF_HEADROOM;
		rte_prefetch0(data);
		rte_prefetch0(data + 64);
		rte_prefetch0(data + 128);
	}
}
static int go_alloc_bulk(uintptr_t pool, uintptr_t vec, unsigned n) {
	return rte_pktmbuf_alloc_bulk((struct rte_mempool *)pool, (struct rte_mbuf **)vec, n);
}
static void go_free_bulk(uintptr_t vec, unsigned n) {
	rte_pktmbuf_free_bulk((struct rte_mbuf **)vec, n);
}
*/
import "C"

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"intsink/dpdk/eal"
	"intsink/dpdk/mbuf"
)

// AnySocket lets the pool's memory be on any NUMA node (SOCKET_ID_ANY).
const AnySocket = -1

// MaxCache is the largest per-thread cache of a pool.
const MaxCache = C.RTE_MEMPOOL_CACHE_MAX_SIZE

// Mempool is a pool of packet buffers. Its methods are safe for concurrent use.
type Mempool struct{ p *C.struct_rte_mempool }

// New makes a pool of n mbufs whose buffers have dataRoom bytes, headroom
// included. A thread that is registered with EAL keeps up to cache of them for
// itself; a cache larger than MaxCache or n/1.5 is made smaller. n is best a power
// of two minus one. The error says what to change.
func New(name string, n, cache, dataRoom, socket int) (*Mempool, error) {
	if n <= 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("a pool of %d mbufs: at least one is needed, and at most %d fit", n, math.MaxInt32)
	}
	if dataRoom < mbufHeadroom || dataRoom > math.MaxUint16 {
		return nil, fmt.Errorf("an mbuf of %d bytes: use %d (its headroom) to %d", dataRoom, mbufHeadroom, math.MaxUint16)
	}
	cache = max(0, min(cache, MaxCache, n*2/3)) // rte_mempool_create: cache * 1.5 <= n
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var p *C.struct_rte_mempool
	var errno C.int
	said := eal.Capture(func() {
		p = C.go_pool_create(cname, C.uint(n), C.uint(cache), C.uint(dataRoom), C.int(socket), &errno)
	})
	if p == nil {
		return nil, fmt.Errorf("pool %q of %d mbufs of %d bytes: %w%s%s",
			name, n, dataRoom, eal.Errno(int(errno)), said, hint(syscall.Errno(errno), n, dataRoom))
	}
	return &Mempool{p}, nil
}

const (
	mbufHeadroom = C.RTE_PKTMBUF_HEADROOM
	mbufOverhead = 192 // rte_mbuf and the mempool's object header
)

// hint returns what to do about a pool that DPDK refused to make.
func hint(err syscall.Errno, n, dataRoom int) string {
	switch err {
	case syscall.ENOMEM:
		return fmt.Sprintf("; it needs about %d MiB: fewer mbufs, or more hugepages", int64(n)*int64(dataRoom+mbufOverhead)>>20)
	case syscall.EEXIST:
		return "; a pool of this name exists"
	case syscall.ENAMETOOLONG:
		return fmt.Sprintf("; a name has at most %d bytes", maxName)
	}
	return ""
}

// maxName: rte_pktmbuf_pool_create puts "MP_" in front and a NUL behind.
const maxName = C.RTE_MEMPOOL_NAMESIZE - 1

// AllocBulk fills v[:n] with empty mbufs or, returning false, takes none. One
// call into C.
func (m *Mempool) AllocBulk(v *mbuf.Vec, n int) bool {
	return C.go_alloc_bulk(C.uintptr_t(uintptr(unsafe.Pointer(m.p))), C.uintptr_t(v.Addr()), C.uint(n)) == 0
}

// FreeBulk gives v[:n] back, whole chains, each mbuf to the pool it came from.
// One call into C.
func (m *Mempool) FreeBulk(v *mbuf.Vec, n int) {
	C.go_free_bulk(C.uintptr_t(v.Addr()), C.uint(n))
}

// Prefetch has the CPU fetch what v[:n] are and the first 192 bytes behind the headroom, where
// another CPU has written them: all at once, in place of one after the other when they are looked
// at (rte_prefetch0). It reads nothing of an mbuf. One call into C.
func (m *Mempool) Prefetch(v *mbuf.Vec, n int) { C.go_prefetch(C.uintptr_t(v.Addr()), C.uint(n)) }

// InUse is the number of mbufs that are neither in the pool nor in a thread's
// cache: exact while no thread is at work.
func (m *Mempool) InUse() int { return int(C.rte_mempool_in_use_count(m.p)) }

// Size is the number of mbufs that the pool was made with.
func (m *Mempool) Size() int { return int(m.p.size) }

// Ptr is the pool's address, for dpdk/ethdev.
func (m *Mempool) Ptr() uintptr { return uintptr(unsafe.Pointer(m.p)) }

// Free gives the pool's memory back. All mbufs must have come home.
func (m *Mempool) Free() { C.rte_mempool_free(m.p) }
