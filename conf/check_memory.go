// Compares pools and flow tables with the memory of the machine (/proc/meminfo).

package conf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// checkMemory compares pools and flow tables with what the machine has. It may
// be another one that the file is for: a warning.
func (d checker) checkMemory(c *Config, m machine) {
	if m.memory == 0 {
		return
	}
	workers := uint64(len(c.DPDK.Lcores))
	pools := uint64(c.DPDK.Mbufs)*uint64(c.DPDK.MbufBytes()) + workers*ReportMbufs*uint64(mbufHeader+ReportRoom+c.Report.Coalesce.MaxBytes)
	flows := workers * uint64(c.Flows.Capacity) * FlowBytes
	switch {
	case pools > m.memory:
		d.WarnAt([]any{&c.DPDK.Mbufs, &c.DPDK}, "dpdk: mbufs = %d: with the report pools they take %s, more than this machine's memory of %s",
			c.DPDK.Mbufs, gibibytes(pools), gibibytes(m.memory))
	case pools+flows > m.memory:
		d.WarnAt([]any{&c.Flows.Capacity, &c.DPDK.Mbufs, &c.DPDK}, "flows: capacity = %d: the flow tables of all workers (%d) take %s, and pools %s: "+
			"more than this machine's memory of %s",
			c.Flows.Capacity, workers, gibibytes(flows), gibibytes(pools), gibibytes(m.memory))
	}
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// installedMemory is the memory of this machine in bytes, hugepages included; 0
// where the kernel does not say. A cgroup may allow less.
var installedMemory = sync.OnceValue(func() uint64 {
	src, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return memTotal(src)
})

// memTotal is MemTotal of /proc/meminfo in bytes.
func memTotal(meminfo []byte) uint64 {
	for line := range bytes.Lines(meminfo) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemTotal:" && string(f[2]) == "kB" {
			n, _ := strconv.ParseUint(string(f[1]), 10, 53)
			return n << 10
		}
	}
	return 0
}
