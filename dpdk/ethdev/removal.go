// Removed: the driver, or the kernel on behalf of whoever takes the device away, has asked for it back.

package ethdev

/*
// rte_dev_event_callback_register is experimental in DPDK 22.11.
#cgo CFLAGS: -DALLOW_EXPERIMENTAL_API
#include <stdint.h>
#include <stdlib.h>
int go_watch_removal(uint16_t port);
void go_tell_removal(const char *name);
extern uint32_t go_removed[];
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"intsink/dpdk/eal"
)

// watchRemoval has DPDK tell when the device of p goes: RTE_ETH_EVENT_INTR_RMV of drivers that see it
// vanish, and the request of vfio-pci, which keeps a device until its process lets it go.
func (p Port) watchRemoval() {
	atomic.StoreUint32(removed(p.id), 0)
	eal.Capture(func() { C.go_watch_removal(C.uint16_t(p.id)) }) // without it a removal is not told
}

// Removed reports whether the device of p has gone, or is to go. It may be called from any goroutine.
func (p Port) Removed() bool { return atomic.LoadUint32(removed(p.id)) != 0 }

func removed(port uint16) *uint32 {
	// SAFETY: a port's number is below RTE_MAX_ETHPORTS, the length of the array, which C never frees.
	return (*uint32)(unsafe.Add(unsafe.Pointer(&C.go_removed), uintptr(port)*4))
}

// tellRemoval has EAL tell everybody that a device is to be removed, as the request of vfio-pci does;
// the device stays. For tests.
func tellRemoval(name string) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	C.go_tell_removal(c)
}
