// Init, Cleanup and Version of EAL (rte_eal_init), with the calling thread's affinity put back.

package eal

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#include <stdlib.h>
#include <rte_eal.h>
#include <rte_version.h>
#include "log.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Version is that of the DPDK that runs: "DPDK 24.11.8".
func Version() string { return C.GoString(C.rte_version()) }

// Init starts EAL with args, without the program's name in front. The error
// says what DPDK said and what to do; nothing is printed. The calling thread
// keeps its CPU affinity.
func Init(args []string) error {
	argc, argv := cStrings(append([]string{"intsink"}, args...))

	// rte_eal_init pins the calling thread to the main lcore's CPU. Threads that
	// start from this one would inherit that, so the affinity is put back.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("EAL: read CPU affinity: %w", err)
	}
	var errno C.int
	said := Capture(func() { errno = C.go_eal_init(argc, argv) })
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("EAL: restore CPU affinity: %w", err)
	}
	if errno != 0 {
		return fmt.Errorf("DPDK did not start: %w%s%s", Errno(int(errno)), said, initHint(syscall.Errno(errno)))
	}
	return nil
}

// cStrings is args in C's memory, never freed: EAL keeps them.
func cStrings(args []string) (C.int, **C.char) {
	array := (**C.char)(C.calloc(C.size_t(len(args)+1), C.size_t(unsafe.Sizeof((*C.char)(nil)))))
	// SAFETY: array has one slot per argument and the NULL behind them.
	slots := unsafe.Slice(array, len(args))
	for i, a := range args {
		slots[i] = C.CString(a)
	}
	return C.int(len(args)), array
}

// initHint returns what is to be done about the most common causes of a failed start.
func initHint(errno syscall.Errno) string {
	switch errno {
	case syscall.EALREADY:
		return "; it starts once per process"
	case syscall.EINVAL:
		return "; check dpdk.eal_args"
	case syscall.EACCES, syscall.EPERM:
		return "; run as root, or without hugepages: dpdk.hugepages = \"off\""
	case syscall.ENOMEM:
		return "; there is too little memory: fewer dpdk.mbufs, or more hugepages"
	}
	return ""
}

// Cleanup ends EAL (rte_eal_cleanup). Ports and pools must be gone, workers
// unregistered. EAL cannot start again in this process.
func Cleanup() {
	if keptMemory.Load() {
		return
	}
	Capture(func() { C.rte_eal_cleanup() })
}
