// Declares what the sink has room for and allocates (watches, collectors, bytes of mbufs
// and flows); compares that with the memory of the machine (/proc/meminfo).

package conf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

	"intsink/conf/schema"
)

// checkMemory compares pools and flow tables with what the machine has. It may
// be another one that the file is for: a warning.
func (d checker) checkMemory(c *Config, m machine) {
	if n := c.Recorder.Memory; n != 0 && n < LeastRecorder {
		d.ErrorAt([]any{&c.Recorder.Memory}, "recorder: memory = %q: must be 0, or %s at least", schema.SizeText(n), schema.SizeText(LeastRecorder))
	}
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

// installedMemory is the memory of this machine in bytes, hugepages included; 0
// where the kernel does not say. Control groups may allow less: MemoryLimit.
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

// What the sink has room for, and what it allocates at start, in bytes. Packages
// that conf does not import have the same sizes: a test of cmd/intsink compares.
const (
	MaxWatches    = 255 // a flow keeps the index of its watch in a byte
	MaxCollectors = 64  // a watch keeps its collectors in a word
	Priorities    = 7   // of reports; each leaves a share of the budget's burst to those before it

	DefaultMbufSize = 2048                  // bytes of a frame in one mbuf; longer frames are chains
	MbufRoom        = 128 + DefaultMbufSize // headroom and data of one mbuf of that size
	mbufHeader      = 64 + 128              // the pool's header and struct rte_mbuf
	MbufCache       = 256                   // mbufs a worker keeps without going to the shared pool
	Burst           = 64                    // mbufs a worker handles at once
	ReportMbufs     = 4095                  // in the report pool of a worker
	ReportRoom      = 128 + 64              // in front of a report packet: headroom for its headers, the handoff
	FlowBytes       = 320 + 8               // a flow and its share of a bucket
	LeastRecorder   = 1 << 20               // memory of a recorder that is on
)

// MbufRoom is the headroom and data of one mbuf of the packet pool.
func (d *DPDK) MbufRoom() int { return MbufRoom - DefaultMbufSize + d.MbufSize }

// MbufBytes is what one mbuf takes in the packet pool.
func (d *DPDK) MbufBytes() int { return d.MbufRoom() + mbufHeader }
