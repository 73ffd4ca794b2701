package eal

import "time"

// started is when the process's clock began: wall time, and the monotonic
// reading that belongs to it.
var started = time.Now()

// Nanotime is the time in Unix nanoseconds. It starts at the wall clock and
// then follows the monotonic one, so that it never jumps.
func Nanotime() int64 { return started.UnixNano() + int64(time.Since(started)) }
