// Block dpdk, whole but for lcores: what EAL starts with.

package conf

import (
	"intsink/conf/schema"
	"slices"
	"time"
)

// DPDK says what EAL starts with.
type DPDK struct {
	Lcores    []int         // one worker per lcore, in order
	Hugepages Hugepages     // "auto" | "on" | "off"
	Mbufs     int           // mbufs in the packet pool
	MbufSize  int           // bytes of a frame that one mbuf holds
	IdleSleep time.Duration // how long an idle worker sleeps between polls; 0: it polls without pause
	Telemetry bool          // DPDK's own telemetry, on a socket of its runtime directory
	EALArgs   []string
}

// Hugepages is dpdk.hugepages.
type Hugepages string

// The values of dpdk.hugepages.
const (
	AutoHugepages Hugepages = "auto" // where there are some
	WithHugepages Hugepages = "on"
	NoHugepages   Hugepages = "off"
)

func visitDPDK(v schema.Visitor, d *DPDK) {
	v.Attr("lcores", lcores(&d.Lcores))
	v.Attr("hugepages", schema.Choice(&d.Hugepages, AutoHugepages, WithHugepages, NoHugepages))
	v.Attr("mbufs", schema.Integer(&d.Mbufs, 512, 1<<26))
	v.Attr("mbuf_size", schema.Integer(&d.MbufSize, DefaultMbufSize, 16384))
	v.Attr("idle_sleep", schema.Duration(&d.IdleSleep, 0, maxIdleSleep))
	v.Attr("telemetry", schema.Boolean(&d.Telemetry))
	v.Attr("eal_args", schema.Texts(&d.EALArgs))
}

// MbufRoom is the headroom and data of one mbuf of the packet pool.
func (d *DPDK) MbufRoom() int { return MbufRoom - DefaultMbufSize + d.MbufSize }

// MbufBytes is what one mbuf takes in the packet pool.
func (d *DPDK) MbufBytes() int { return d.MbufRoom() + mbufHeader }

func defaultDPDK() DPDK {
	return DPDK{Hugepages: AutoHugepages, Mbufs: 65536, MbufSize: DefaultMbufSize, IdleSleep: 0}
}

const maxIdleSleep = 10 * time.Millisecond

// defaultLcores is one worker, on the last CPU that the process may run on:
// interrupts and other programs are found on the first.
func (d checker) defaultLcores(dpdk *DPDK, m machine) {
	if len(dpdk.Lcores) == 0 && len(m.cpus) > 0 {
		dpdk.Lcores = []int{m.cpus[len(m.cpus)-1]}
	}
}

// checkLcores checks that the CPUs exist, that this process may use them, and that each worker
// has a hw_id. What it refuses counts as unread: no other check reckons with workers that cannot be.
func (d checker) checkLcores(dpdk *DPDK, node *Node, m machine) {
	var bad []int
	for _, cpu := range dpdk.Lcores {
		if !slices.Contains(m.cpus, cpu) {
			bad = append(bad, cpu)
		}
	}
	at := []any{&dpdk.Lcores, dpdk}
	if len(bad) > 0 {
		severity := schema.Error
		if m.elsewhere {
			severity = schema.Warning
		}
		d.ReportAt(severity, at, "dpdk: lcores: this process cannot run on CPU %s; available: %s", lcoresText(bad), lcoresText(m.cpus))
		if severity == schema.Error {
			d.Refuse(&dpdk.Lcores)
			return
		}
	}
	if n, free := len(dpdk.Lcores), 64-int(node.HwIDBase); n > free {
		d.ErrorAt(append(at, &node.HwIDBase), "dpdk: %d workers, but hw_id has 6 bits: at most %d workers with node.hw_id_base = %d", n, free, node.HwIDBase)
		d.Refuse(&dpdk.Lcores)
		return
	}
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
)
