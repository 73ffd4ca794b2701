// Gauges: load of the host port, fill of the pool, depth of the queue: other goroutines write them,
// reports read them.

package reporting

import (
	"sync/atomic"

	"intsink/engine/report"
)

// Gauges are readings of a live link that something else takes now and then, for
// the sink's own metadata. A link that has none (a replay) reports none.
type Gauges struct {
	txUtilization atomic.Uint32
	buffer        atomic.Uint32
	// Depth asks the network port how many packets wait in this worker's queue; nil
	// where the driver cannot tell.
	Depth func() int
}

const unknownGauge = 1<<32 - 1

// NewGauges knows nothing yet.
func NewGauges() *Gauges {
	g := &Gauges{}
	g.SetTxUtilization(-1)
	g.SetBuffer(-1)
	return g
}

// SetTxUtilization is the load of the host port in percent of its speed; negative:
// unknown.
func (g *Gauges) SetTxUtilization(percent int) { g.txUtilization.Store(gauge(percent)) }

// SetBuffer is the number of mbufs of the packet pool that are in use; negative:
// unknown.
func (g *Gauges) SetBuffer(mbufs int) { g.buffer.Store(gauge(mbufs)) }

func gauge(v int) uint32 {
	if v < 0 {
		return unknownGauge
	}
	return uint32(min(v, 1<<24-2))
}

// AlwaysProvided are the RepMdBits that need no gauge. The node id is not among
// them: it stands in the group header only.
const AlwaysProvided = report.MdInterfaces | report.MdHopLatency | report.MdIngressTimestamp | report.MdEgressTimestamp

// read fills in what the link knows of itself, and returns the RepMdBits of all
// that is provided. The queue's depth is what this poll found and what the driver
// says is still there.
func (g *Gauges) read(md *report.Metadata, found int) (provided uint16) {
	provided = AlwaysProvided
	if g == nil {
		return provided
	}
	provided |= report.MdQueue
	md.QueueOccupancy = uint32(found)
	if g.Depth != nil {
		md.QueueOccupancy += uint32(max(g.Depth(), 0))
	}
	if md.TxUtilization = g.txUtilization.Load(); md.TxUtilization != unknownGauge {
		provided |= report.MdTxUtilization
	}
	if md.BufferOccupancy = g.buffer.Load(); md.BufferOccupancy != unknownGauge {
		provided |= report.MdBuffer
	}
	return provided
}
