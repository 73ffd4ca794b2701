// Compares what pools and flow tables take with the memory of the machine.

package conf

import (
	"fmt"
)

// checkMemory compares pools and flow tables with what the machine has. It may
// be another one that the file is for: a warning.
func (d checker) checkMemory(c *Config, m machine) {
	if m.memory == 0 {
		return
	}
	workers := uint64(len(c.DPDK.Lcores))
	pools := uint64(c.DPDK.Mbufs)*uint64(c.DPDK.MbufBytes()) + workers*ReportMbufs*uint64(mbufHeader+ReportRoom+c.Report.Coalesce.MaxBytes)
	flows, recorders := workers*uint64(c.Flows.Places())*FlowBytes, workers*uint64(c.Recorder.Memory)
	at := []any{&c.DPDK.Mbufs, &c.DPDK, &c.DPDK.Lcores, &c.DPDK.MbufSize, &c.Report.Coalesce.MaxBytes}
	d.checkLimit(c, m.limit, pools, flows, recorders)
	switch {
	case pools > m.memory:
		d.WarnAt(at, "dpdk: mbufs = %d: with the report pools they take %s, more than this machine's memory of %s",
			c.DPDK.Mbufs, gibibytes(pools), gibibytes(m.memory))
	case pools+flows > m.memory:
		d.WarnAt(append([]any{&c.Flows.Capacity}, at...), "flows: capacity = %d: the flow tables of all workers (%d) take %s, and pools %s: "+
			"more than this machine's memory of %s",
			c.Flows.Capacity, workers, gibibytes(flows), gibibytes(pools), gibibytes(m.memory))
	}
}

// checkLimit compares the same with what the control group allows. Hugepages do not count in it.
func (d checker) checkLimit(c *Config, limit, pools, flows, recorders uint64) {
	need, what := flows+recorders, "the flow tables and the recorder"
	if c.DPDK.Hugepages != WithHugepages {
		need, what = flows+recorders+pools, "pools, unless they are on hugepages, flow tables and the recorder"
	}
	if limit != 0 && need > limit {
		d.WarnAt([]any{&c.Flows.Capacity, &c.Recorder.Memory, &c.DPDK.Mbufs, &c.DPDK}, "memory: %s take %s, and the control group of this process (a container's limit, MemoryMax) allows %s: "+
			"the kernel would end it; allow more, or lower flows.capacity, recorder.memory or dpdk.mbufs", what, mebibytes(need), mebibytes(limit))
	}
}

func mebibytes(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
