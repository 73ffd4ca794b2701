// How much memory a process can still get (meminfo, cgroup).

package appliance

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// AvailableMiB is how much memory a process can still get: what the kernel
// estimates, and what the control group allows. A huge number where neither can
// be read.
func AvailableMiB() int {
	free := math.MaxInt
	meminfo, _ := os.ReadFile("/proc/meminfo") // absent: unknown
	for line := range strings.Lines(string(meminfo)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
			if kb, err := strconv.Atoi(f[1]); err == nil {
				free = kb >> 10
			}
		}
	}
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max") // absent, or "max": unlimited
	if b, err := strconv.Atoi(strings.TrimSpace(string(limit))); err == nil {
		free = min(free, b>>20)
	}
	return free
}

// enoughMemory fails where pools without hugepages would not fit. It would take
// the kernel long to find out: it gives pages as they are filled.
func enoughMemory(mbufs, needMiB, freeMiB int) error {
	if needMiB <= freeMiB {
		return nil
	}
	return fmt.Errorf("dpdk.mbufs = %d: the pools need %d MiB, and %d MiB of memory are available: use fewer mbufs", mbufs, needMiB, freeMiB)
}
