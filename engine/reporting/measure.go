// Measure: fills in the sink's own metadata of a burst (times, ports, queue); Gauges: load
// of the host port and fill of the pool, as other goroutines read them.

package reporting

import (
	"sync/atomic"

	"intsink/engine/report"
	"intsink/flows"
)

// Wall is what times of the worker's clock lack to be those of the wall clock.
func (x *Reporter) Wall() int64 {
	if x.wallClock == nil {
		return 0
	}
	return x.wallClock()
}

// Measure reads the sink's own metadata for packets that were received at now on one
// interface and leave at egress by another. found is how many the poll has found.
func (x *Reporter) Measure(now, egress int64, from, to uint16, g *Gauges, found int) {
	md := &x.metadata
	md.IngressPort, md.EgressPort = from, to
	md.IngressTimestamp, md.EgressTimestamp = uint64(now+x.Wall()), uint64(egress+x.Wall())
	md.HopLatencyNs = uint32(min(egress-now, 0xfffffffe))
	md.QueueID = x.queueID
	x.provided = g.read(md, found)
	x.templates.forget()
}

// NoPacket is Measure where there is no packet: what f was last seen at is all that is
// known.
func (x *Reporter) NoPacket(f *flows.Flow) {
	md := &x.metadata
	md.IngressPort, md.EgressPort = 0xffff, 0xffff // unknown
	seen := uint64(f.LastSeen() + x.Wall())
	md.IngressTimestamp, md.EgressTimestamp = seen, seen
	md.HopLatencyNs = 0xffffffff
	x.provided = AlwaysProvided
	x.templates.forget()
}

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
