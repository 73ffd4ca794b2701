// Measure: the sink's own metadata of a burst (times, ports, queue).

package reporting

import "intsink/flows"

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
