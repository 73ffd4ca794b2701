// Package mempool makes and uses DPDK packet buffer pools (rte_mempool,
// rte_pktmbuf_pool_create).
package mempool

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#cgo noescape go_alloc_bulk
#cgo nocallback go_alloc_bulk
#cgo noescape go_free_bulk
#cgo nocallback go_free_bulk
#include <stdlib.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

static struct rte_mempool *go_pool_create(const char *name, unsigned n, unsigned cache, unsigned room, int socket, int *err) {
	struct rte_mempool *p = rte_pktmbuf_pool_create(name, n, cache, 0, (uint16_t)room, socket);
	*err = p == NULL ? rte_errno : 0;
	return p;
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
	"syscall"
	"unsafe"

	"intsink/dpdk/mbuf"
)

// AnySocket lets the pool's memory be on any NUMA node (SOCKET_ID_ANY).
const AnySocket = -1

// Mempool is a pool of packet buffers. Its methods are safe for concurrent use.
type Mempool struct{ p *C.struct_rte_mempool }

// New makes a pool of n mbufs whose buffers have room bytes, headroom included.
// A thread that is registered with EAL keeps up to cache of them for itself.
func New(name string, n, cache, room, socket int) (*Mempool, error) {
	if room > 65535 {
		return nil, fmt.Errorf("a buffer of %d bytes is too large for an mbuf: at most 65535", room)
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var errno C.int
	p := C.go_pool_create(cname, C.uint(n), C.uint(cache), C.uint(room), C.int(socket), &errno)
	if p == nil {
		return nil, createError(n, room, syscall.Errno(errno))
	}
	return &Mempool{p}, nil
}

func createError(n, room int, err syscall.Errno) error {
	need := int64(n) * int64(room+192) >> 20
	hint := ""
	switch err {
	case syscall.ENOMEM:
		hint = fmt.Sprintf("; it needs about %d MiB: fewer mbufs, or more hugepages", need)
	case syscall.EEXIST:
		hint = "; a pool of this name exists"
	}
	return fmt.Errorf("no pool of %d mbufs of %d bytes: %w%s", n, room, err, hint)
}

// AllocBulk fills v[:n] or, returning false, leaves v alone.
func (m *Mempool) AllocBulk(v *mbuf.Vec, n int) bool {
	return C.go_alloc_bulk(C.uintptr_t(uintptr(unsafe.Pointer(m.p))), C.uintptr_t(v.Addr()), C.uint(n)) == 0
}

// FreeBulk gives v[:n] back, whole chains, each to the pool it came from.
func (m *Mempool) FreeBulk(v *mbuf.Vec, n int) {
	C.go_free_bulk(C.uintptr_t(v.Addr()), C.uint(n))
}

// InUse is the number of mbufs that are not in the pool.
func (m *Mempool) InUse() int { return int(C.rte_mempool_in_use_count(m.p)) }

// Size is the number of mbufs that the pool was made with.
func (m *Mempool) Size() int { return int(m.p.size) }

// Ptr is the pool's address, for dpdk/ethdev.
func (m *Mempool) Ptr() uintptr { return uintptr(unsafe.Pointer(m.p)) }

// Free gives the pool's memory back. All mbufs must have come home.
func (m *Mempool) Free() { C.rte_mempool_free(m.p) }
