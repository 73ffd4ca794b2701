// Package eal starts and stops DPDK's Environment Abstraction Layer and makes
// goroutines known to it.
//
// Workers are goroutines locked to their threads, pinned, and registered with
// rte_thread_register; EAL itself gets one lcore that never works. EAL can be
// started once per process.
package eal

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -Werror=implicit-function-declaration
#include <stdio.h>
#include <stdlib.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

static char *go_log_text;
static size_t go_log_len;
static FILE *go_log_file;

// From here on DPDK logs into memory.
static void go_log_capture(void) {
	go_log_file = open_memstream(&go_log_text, &go_log_len);
	if (go_log_file != NULL)
		rte_openlog_stream(go_log_file);
}
// DPDK logs to standard error again; returns what was captured, to be freed.
static char *go_log_release(void) {
	rte_openlog_stream(NULL);
	if (go_log_file == NULL)
		return NULL;
	fclose(go_log_file);
	go_log_file = NULL;
	return go_log_text;
}
static int go_eal_init(int argc, char **argv) { return rte_eal_init(argc, argv) < 0 ? rte_errno : 0; }
static int go_thread_register(void) { return rte_thread_register() < 0 ? rte_errno : 0; }
*/
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Init starts EAL with args, without the program's name in front. The error
// carries what EAL said last.
func Init(args []string) error {
	argv := make([]*C.char, 0, len(args)+2)
	for _, a := range append([]string{"intsink"}, args...) {
		argv = append(argv, C.CString(a)) // never freed: EAL keeps them
	}
	argv = append(argv, nil)
	array := C.malloc(C.size_t(len(argv)) * C.size_t(unsafe.Sizeof(argv[0])))
	copy(unsafe.Slice((**C.char)(array), len(argv)), argv)

	// rte_eal_init pins the calling thread to the main lcore. Threads that Go
	// starts from this one would inherit that, so the affinity is put back.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("EAL: read CPU affinity: %w", err)
	}
	said, errno := captured(func() C.int { return C.go_eal_init(C.int(len(argv)-1), (**C.char)(array)) })
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("EAL: restore CPU affinity: %w", err)
	}
	if errno != 0 {
		return fmt.Errorf("EAL did not start: %w%s", syscall.Errno(errno), said)
	}
	return nil
}

// captured runs f and returns the last lines that DPDK logged meanwhile.
func captured(f func() C.int) (said string, rc C.int) {
	C.go_log_capture()
	rc = f()
	text := C.go_log_release()
	if text == nil {
		return "", rc
	}
	defer C.free(unsafe.Pointer(text))
	lines := strings.Split(strings.TrimSpace(C.GoString(text)), "\n")
	if last := strings.TrimSpace(strings.Join(lines[max(0, len(lines)-3):], "; ")); last != "" {
		said = " (DPDK: " + last + ")"
	}
	return said, rc
}

// Capture runs f and returns, in parentheses, what DPDK logged meanwhile, or
// "". It serves to make one error of a driver's many lines.
func Capture(f func()) string {
	said, _ := captured(func() C.int { f(); return 0 })
	return said
}

// Cleanup ends EAL (rte_eal_cleanup). Ports and pools must be gone.
func Cleanup() { C.rte_eal_cleanup() }

// RegisterThread gives the calling thread an lcore id, without which it
// bypasses the pools' per-lcore caches. The goroutine must be locked to it.
func RegisterThread() error {
	if errno := C.go_thread_register(); errno != 0 {
		return fmt.Errorf("register worker thread with DPDK: %w", syscall.Errno(errno))
	}
	return nil
}

// UnregisterThread gives the lcore id back.
func UnregisterThread() { C.rte_thread_unregister() }

// PinThread lets the calling thread run on one CPU only.
func PinThread(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin worker to CPU %d: %w", cpu, err)
	}
	return nil
}
