// SettleInterrupts: waits until EAL's interrupt thread has taken in what was unregistered.

package eal

/*
#include <rte_alarm.h>

static unsigned go_alarms;

static void go_alarm(void *unused) { (void)unused; __atomic_add_fetch(&go_alarms, 1, __ATOMIC_RELEASE); }
static int go_set_alarm(void) { return rte_eal_alarm_set(1, go_alarm, NULL); }
static unsigned go_alarms_so_far(void) { return __atomic_load_n(&go_alarms, __ATOMIC_ACQUIRE); }
*/
import "C"

import (
	"sync/atomic"
	"time"
)

// keptMemory makes Cleanup leave EAL's memory to the end of the process.
var keptMemory atomic.Bool

// KeepMemory makes Cleanup do nothing: something that a driver has freed is still registered with
// the interrupt thread, which would read it in memory that is gone.
func KeepMemory() { keptMemory.Store(true) }

// SettleInterrupts returns when the interrupt thread of EAL has done what it was told to before,
// or after a second. When a driver unregisters an interrupt, that thread goes through all
// registered ones. net_memif of DPDK 22.11 frees the one of its listening socket when a port is
// closed, and leaves it registered: the thread must not come by then. So all ports are stopped,
// which unregisters what they have, and are closed when the thread is done.
//
// An alarm runs on that thread. It goes through the interrupts between two rounds of events, so
// after the second alarm it has done so for all that was there before the first.
func SettleInterrupts() {
	for range 2 {
		before := C.go_alarms_so_far()
		if C.go_set_alarm() != 0 {
			return
		}
		for range 1000 {
			if C.go_alarms_so_far() != before {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}
