// Nanotime, the monotonic clock anchored at the wall clock; WallClock, which follows steps
// of the wall clock; Sleep of an idle worker by nanosleep.

package eal

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The process's clock began at started, which was wallStart in Unix
// nanoseconds.
var (
	started   = time.Now()
	wallStart = started.UnixNano()
)

// Nanotime is the time in Unix nanoseconds. It starts at the wall clock and
// then follows the monotonic one: steps of the wall clock do not move it. Call it
// once per burst: it takes 33 ns where RDTSC takes 12 and an empty cgo call 50-65,
// so a time stamp counter to calibrate would save 0.3 ns a packet (a virtual
// machine, AMD EPYC; BenchmarkNanotime).
func Nanotime() int64 { return wallStart + int64(time.Since(started)) }

// MonotonicOffset is to be added to CLOCK_MONOTONIC (clock_gettime(2)), nanoseconds, to get Nanotime: at
// most the time of a call too little, never too much, so that C never reads a time ahead of Go's.
func MonotonicOffset() (int64, error) {
	offset := int64(math.MinInt64)
	for range offsetReadings {
		var t unix.Timespec
		before := Nanotime()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
			return 0, fmt.Errorf("read CLOCK_MONOTONIC: %w", err)
		}
		offset = max(offset, before-t.Nano())
	}
	return offset, nil
}

// offsetReadings: the closest of so many is not interrupted between the two clocks.
const offsetReadings = 32

// WallClock follows the steps of the wall clock that Nanotime does not: NTP after a start
// with a wrong clock, a virtual machine that was suspended, an operator.
type WallClock struct {
	offset atomic.Int64
	read   func() (wall, own int64)
}

// NewWallClock compares the clocks that read reads at once; nil: the wall clock and
// Nanotime.
func NewWallClock(read func() (wall, own int64)) *WallClock {
	if read == nil {
		read = func() (wall, own int64) {
			now := time.Now()
			return now.UnixNano(), wallStart + int64(now.Sub(started))
		}
	}
	c := &WallClock{read: read}
	c.Renew()
	return c
}

// Offset is the wall clock less the sink's own, nanoseconds. Safe from any goroutine.
func (c *WallClock) Offset() int64 { return c.offset.Load() }

// A reading may be interrupted between the two clocks: of some the smallest change counts,
// and changes below a microsecond, which are none of the clock's, do not.
const (
	wallReadings = 5
	wallNoise    = 1000
)

// Renew reads both clocks. It is to be called a few times a second by one goroutine.
func (c *WallClock) Renew() {
	was := c.offset.Load()
	var least int64
	for i := range wallReadings {
		wall, own := c.read()
		if change := wall - own - was; i == 0 || max(change, -change) < max(least, -least) {
			least = change
		}
	}
	if max(least, -least) >= wallNoise {
		c.offset.Store(was + least)
	}
}

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
