// Measure: fills in the sink's own metadata of a burst (times, ports, queue); Gauges: load
// of the host port and fill of the pool, as other goroutines read them.

package reporting

import (
	"sync/atomic"

	"intsink/engine/wire/report"
	"intsink/flows"
)

// Wall returns the difference to add to a time of the worker's clock to get the wall clock's.
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

// NoPacket does as Measure for a report without a packet: the only known time is when flow f
// was last seen.
func (x *Reporter) NoPacket(f *flows.Flow) {
	md := &x.metadata
	md.IngressPort, md.EgressPort = 0xffff, 0xffff // unknown
	seen := uint64(f.LastSeen() + x.Wall())
	md.IngressTimestamp, md.EgressTimestamp = seen, seen
	md.HopLatencyNs = 0xffffffff
	x.provided = AlwaysProvided
	x.templates.forget()
}

// Gauges holds readings of a live link for the sink's own metadata, which another goroutine
// takes from time to time. A link without readings (a replay) reports none.
type Gauges struct {
	txUtilization atomic.Uint32
	buffer        atomic.Uint32
	// Depth returns how many packets wait in this worker's queue of the network port; nil: the
	// driver cannot tell.
	Depth func() int
}

const unknownGauge = 1<<32 - 1

// NewGauges returns Gauges without any reading.
func NewGauges() *Gauges {
	g := &Gauges{}
	g.SetTxUtilization(-1)
	g.SetBuffer(-1)
	return g
}

// SetTxUtilization sets the load of the host port in percent of its speed; negative: unknown.
func (g *Gauges) SetTxUtilization(percent int) { g.txUtilization.Store(gauge(percent)) }

// SetBuffer sets how many mbufs of the packet pool are in use; negative: unknown.
func (g *Gauges) SetBuffer(mbufs int) { g.buffer.Store(gauge(mbufs)) }

func gauge(v int) uint32 {
	if v < 0 {
		return unknownGauge
	}
	return uint32(min(v, 1<<24-2))
}

// AlwaysProvided are the RepMdBits that need no gauge. The node id is not among them: it is in
// the group header only.
const AlwaysProvided = report.MdInterfaces | report.MdHopLatency | report.MdIngressTimestamp | report.MdEgressTimestamp

// read writes the readings into md and returns the RepMdBits of all values that md holds then.
// The queue's depth is the number of packets that this poll found, and those that the driver
// says still wait.
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
