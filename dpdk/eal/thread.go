// PinThread and RegisterThread: a worker's thread on one CPU, with an lcore id for the pools'
// caches.

package eal

/*
#include <rte_errno.h>
#include <rte_lcore.h>
static int go_thread_register(void) { return rte_thread_register() < 0 ? rte_errno : 0; }
*/
import "C"

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// RegisterThread gives the calling thread an lcore id, without which it
// bypasses the pools' per-lcore caches. The goroutine must be locked to its
// thread (runtime.LockOSThread). It fails when EAL is not started, and when all
// lcore ids are taken.
func RegisterThread() error {
	var errno C.int
	said := Capture(func() { errno = C.go_thread_register() })
	if errno != 0 {
		return fmt.Errorf("register worker thread with DPDK: %w%s", Errno(int(errno)), said)
	}
	return nil
}

// UnregisterThread gives the lcore id back, and the thread's pool caches with it.
func UnregisterThread() { C.rte_thread_unregister() }

// LcoreID is the calling thread's lcore id, -1 where it has none.
func LcoreID() int {
	if id := C.rte_lcore_id(); id != C.LCORE_ID_ANY {
		return int(id)
	}
	return -1
}

// PinThread lets the calling thread run on one CPU only. The goroutine must be
// locked to its thread, and should not unlock it.
func PinThread(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin worker to CPU %d: %w; the CPU must be online and allowed (nproc, taskset -p, the container's cpuset)", cpu, err)
	}
	return nil
}
