// Opens packet and report mbuf pools, and checks at the end for leaked mbufs; how much
// memory a process can still get (meminfo, cgroup).

package appliance

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	"intsink/dpdk/mempool"
)

// openPools makes one packet pool for all ports and one report pool per worker. At the end it looks for
// mbufs that did not come back: a leak would stop the appliance some day.
func (a *Appliance) openPools(c *conf.Config) (stop func(), err error) {
	if a.pool, err = mempool.New("packets", c.DPDK.Mbufs, conf.MbufCache, c.DPDK.MbufRoom(), mempool.AnySocket); err != nil {
		return nil, fmt.Errorf("dpdk.mbufs = %d: %w", c.DPDK.Mbufs, err)
	}
	for w := range c.DPDK.Lcores {
		name := fmt.Sprintf("reports-w%d", w)
		p, err := mempool.New(name, conf.ReportMbufs, 0, rules.ReportRoom(c), mempool.AnySocket)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		a.reportPools = append(a.reportPools, p)
	}
	return func() {
		leaked := a.pool.InUse()
		for _, p := range a.reportPools {
			leaked += p.InUse()
		}
		if leaked != 0 {
			a.leaked = fmt.Errorf("%d mbufs did not return to their pools", leaked)
		}
	}, nil
}

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
	own := ownCgroup()
	for _, group := range []string{"", own} {
		limit, err := mib("/sys/fs/cgroup" + group + "/memory.max") // absent, or "max": unlimited
		used, _ := mib("/sys/fs/cgroup" + group + "/memory.current")
		if err == nil {
			free = min(free, limit-used)
		}
	}
	return free
}

// ownCgroup is the path of this process's control group (cgroups(7)); "" where it cannot be told.
func ownCgroup() string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	_, path, _ := strings.Cut(strings.TrimSpace(string(text)), "0::")
	return path
}

// mib reads a number of bytes.
func mib(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	b, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return b >> 20, err
}

// residentMiB is how much memory this process has.
func residentMiB() int {
	var size, resident int
	text, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(text), &size, &resident)
	return resident * os.Getpagesize() >> 20
}

// enoughMemory fails where pools without hugepages would not fit. It would take
// the kernel long to find out: it gives pages as they are filled.
func enoughMemory(mbufs, needMiB, freeMiB int) error {
	if needMiB <= freeMiB {
		return nil
	}
	return fmt.Errorf("dpdk.mbufs = %d: the pools need %d MiB, and %d MiB of memory are available: use fewer mbufs", mbufs, needMiB, freeMiB)
}
