package flows

import (
	"syscall"
	"time"
)

// StartTime is about how long New takes for a table of that capacity on this
// machine, now: the kernel has to find and clear the memory. It is measured on a
// small part; memory that a virtual machine has never touched takes longer.
func StartTime(capacity int) time.Duration {
	const sample = 64 << 20
	start := time.Now()
	b, _ := mapHot(sample)
	took := time.Since(start)
	syscall.Munmap(b)
	return took * time.Duration(capacity) / (sample / time.Duration(Bytes))
}
