// Sleep of an idle worker by nanosleep, and its timer slack.

package eal

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// SharpenSleep lets the kernel wake the calling thread a nanosecond after its time
// instead of up to 50 us (prctl PR_SET_TIMERSLACK). The goroutine must be locked to its
// thread.
func SharpenSleep() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack of a worker's thread: %w", err)
	}
	return nil
}

// Sleep suspends the calling thread for d, or less where a signal arrives. time.Sleep
// parks the goroutine instead: woken by another thread of the Go runtime, a locked one
// comes back a millisecond later.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&ts, nil) // EINTR: the caller polls once more
}
