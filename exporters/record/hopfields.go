// Puts the hops of the reported packet into a record: reads values by inthdr.Layout, makes
// timestamps absolute, derives links, latencies and the path's id.

package record

import (
	"math"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
)

// stack reads the hops that lie within the first n bytes of the frame, and derives links,
// latencies and the path from them.
func (d *Decoder) stack(n int) {
	r, i := &d.record, &d.info
	if i.Type != inthdr.MD {
		r.INTType = i.Type
	}
	if i.HopExceeded {
		r.Flags |= HopLimit
	}
	if i.MTUExceeded {
		r.Flags |= MTUExceeded
	}
	if int(i.End) > n {
		r.Flags |= Truncated
	}
	if i.Reason != inthdr.ReasonNone {
		if int(i.Stack) > n {
			return
		}
		r.INTProblem, r.SourceMetadata = i.Reason, d.within(int(i.Stack), int(i.End), n)
		if i.Reason != inthdr.ReasonUnknownDomain { // where the source's own metadata ends and hops begin is not known
			r.Flags |= Malformed
		}
		return
	}
	if i.Format.Foreign() {
		d.foreignStack(n)
		return
	}
	d.sourceMetadata(n)
	if at, length := d.locator.Place(i, inthdr.DeviceID); length > 0 && at+length <= n {
		r.DeviceID = append(r.DeviceID, d.frame[at:at+length]...)
	}
	if i.Type == inthdr.MD && int(i.Stack) <= n {
		d.hops(d.frame, i, n)
	}
}

// hops appends those that stand within the first n bytes of a frame, where i says, and derives the rest from them.
func (d *Decoder) hops(frame []byte, i *inthdr.Info, n int) {
	d.record.HopCount = d.info.Hops
	d.record.Known |= KnownHopCount
	layout := d.locator.Layout(i)
	for k := int(i.Hops) - 1; k >= 0; k-- { // the newest hop is the first on the wire
		at := int(i.Stack) + k*int(i.HopLen)
		if to := at + int(i.HopLen); to <= n {
			d.hop(frame[at:to], layout)
		}
	}
	d.derive(layout)
}

// sourceMetadata takes what the source alone added, as far as it is within the first n bytes of the frame.
func (d *Decoder) sourceMetadata(n int) {
	i := &d.info
	at, to := int(i.Stack)+int(i.StackLen), int(i.Stack)+int(i.StackLen)+int(i.SourceLen)
	if i.Type == inthdr.Destination {
		at, to = int(i.Shim)+inthdr.ShimLen, int(i.End)
	}
	d.record.SourceMetadata = d.within(at, to, n)
}

// within returns the bytes of the frame from at on, and no further than to and n.
func (d *Decoder) within(at, to, n int) []byte {
	if to = min(to, n); at < to {
		return d.frame[at:to:to]
	}
	return nil
}

// hop appends the hop b; values in the unit of the node's model, timestamps as on the wire.
func (d *Decoder) hop(b []byte, l *inthdr.Layout) {
	var v inthdr.Hop
	var rest inthdr.Rest
	l.Read(&v, b)
	l.ReadRest(&rest, b)
	d.record.Hops = append(d.record.Hops, Hop{})
	h := &d.record.Hops[len(d.record.Hops)-1]
	h.fill(&v, &rest, d.models.Of(v.NodeID))      // no model lists a node that is unknown
	if at, to := int(l.HopLen), len(b); to > at { // behind the baseline, in front of the checksum complement
		if l.Bitmap&inthdr.BitChecksumComplement != 0 {
			at, to = at-4, to-4
		}
		h.DSMetadata = b[at:to:to]
	}
}

// fill sets h to the known ones of the values, in the unit of the node's model; timestamps as on the wire.
func (h *Hop) fill(v *inthdr.Hop, rest *inthdr.Rest, model *event.NodeModel) {
	all := h.Known // not h.Known itself, which would be written and read again for each value
	value := func(known HopKnown, x uint32, to *uint32) {
		if x != inthdr.Unknown {
			*to = x
			all |= known
		}
	}
	stamp := func(known HopKnown, x uint64, to *uint64) {
		if x != inthdr.UnknownTime {
			*to = x
			all |= known
		}
	}
	var queue, buffer uint32
	value(HopNode, v.NodeID, &h.NodeID)
	value(HopIngress, v.Ingress, &h.Ingress)
	value(HopEgress, v.Egress, &h.Egress)
	value(HopIngress2, v.Ingress2, &h.Ingress2)
	value(HopEgress2, v.Egress2, &h.Egress2)
	value(HopLatency, v.Latency, &h.LatencyNs)
	value(HopQueue, v.Queue, &queue)
	value(HopOccupancy, v.Occupancy, &h.Occupancy)
	value(HopTxUtilization, v.TxUtilization, &h.TxUtilization)
	value(HopBuffer, rest.Buffer, &buffer)
	value(HopBufferOccupancy, rest.BufferOccupancy, &h.BufferOccupancy)
	value(HopCongestion, rest.Congestion, &h.Congestion)
	stamp(HopIngressTime, v.IngressTime, &h.IngressTime)
	stamp(HopEgressTime, v.EgressTime, &h.EgressTime)
	h.Known, h.Queue, h.Buffer = all, uint8(queue), uint8(buffer)
	h.LatencyNs, h.Occupancy, h.BufferOccupancy = model.Latency(h.LatencyNs), model.Occupancy(h.Occupancy), model.Buffer(h.BufferOccupancy)
	h.TxUtilization = model.Utilization(h.TxUtilization)
}

// absolute makes Unix nanoseconds of both timestamps, whose width is bits.
func (h *Hop) absolute(model *event.NodeModel, bits uint8, now int64) {
	h.Known &^= absolute(&h.IngressTime, h.Known&HopIngressTime, model, bits, now)
	h.Known &^= absolute(&h.EgressTime, h.Known&HopEgressTime, model, bits, now)
}

// derive sets links, latencies and the path, which take more than one hop.
func (d *Decoder) derive(l *inthdr.Layout) {
	r, width := &d.record, l.Format.StampBits()
	d.links(width)
	for k := range r.Hops {
		r.Hops[k].absolute(d.models.Of(r.Hops[k].NodeID), width, r.Time)
	}
	d.complete(l)
}

// links sets the time from each node to the next, by timestamps of so many bits.
func (d *Decoder) links(width uint8) {
	r := &d.record
	for k := 1; k < len(r.Hops); k++ {
		from, to := &r.Hops[k-1], &r.Hops[k]
		if from.Known&(HopNode|HopEgressTime) != HopNode|HopEgressTime || to.Known&(HopNode|HopIngressTime) != HopNode|HopIngressTime {
			continue
		}
		egress := event.Stamp{Value: from.EgressTime, Bits: width, Model: d.models.Of(from.NodeID)}
		ingress := event.Stamp{Value: to.IngressTime, Bits: width, Model: d.models.Of(to.NodeID)}
		if ns, known := egress.Until(r.Time, ingress); known && ns >= 0 && ns < maxClockOffset { // by a day or more, the clocks do not agree, or a time is none
			r.Links = append(r.Links, Link{from.NodeID, to.NodeID, uint64(ns)})
		}
	}
}

// complete sets what takes all hops: latencies and the path.
func (d *Decoder) complete(l *inthdr.Layout) {
	r := &d.record
	if len(r.Hops) == 0 || len(r.Hops) != int(r.HopCount) || r.Flags&Truncated != 0 {
		return
	}
	d.latency()
	if r.Flags&MTUExceeded == 0 {
		d.path(l)
	}
}

// absolute replaces the timestamp *t, whose width is bits, by Unix nanoseconds and returns 0.
// If the model has no clock to do that with, it returns known, the bit to clear.
func absolute(t *uint64, known HopKnown, model *event.NodeModel, bits uint8, now int64) HopKnown {
	if known == 0 {
		return 0
	}
	ns, ok := event.Stamp{Value: *t, Bits: bits, Model: model}.Unix(now)
	if *t = ns; !ok || ns > math.MaxInt64 { // after 2262: not a real clock, and stores cannot hold it
		return known
	}
	return 0
}

// latency sets MaxHop, the slowest hop, and LatencyNs, where no node and no value is missing.
func (d *Decoder) latency() {
	r := &d.record
	sum, slowest, all := uint64(0), -1, r.Flags&(HopLimit|MTUExceeded) == 0
	for k := range r.Hops {
		h := &r.Hops[k]
		if h.Known&HopLatency == 0 {
			all = false
			continue
		}
		sum += uint64(h.LatencyNs)
		if slowest < 0 || h.LatencyNs > r.Hops[slowest].LatencyNs {
			slowest = k
		}
	}
	if all {
		r.LatencyNs = sum
		r.Known |= KnownLatency
	}
	if slowest >= 0 && r.Hops[slowest].Known&HopNode != 0 {
		r.MaxHop = r.Hops[slowest].NodeID
		r.Known |= KnownMaxHop
	}
}

// unknownInterface stands in a path's id for an interface that the bitmap does not ask for.
const unknownInterface = 0xffff

// path sets the path's id if all nodes are known, and all interfaces that the bitmap asks for: without these a path is
// its nodes.
func (d *Decoder) path(l *inthdr.Layout) {
	r := &d.record
	asked, egress := HopNode, l.Interfaces
	if l.Format == inthdr.Format2016 {
		egress = l.EgressTimestamp // bit 5 is the egress port
	}
	if l.Interfaces >= 0 {
		asked |= HopIngress
	}
	if egress >= 0 {
		asked |= HopEgress
	}
	level2 := l.Level2Interfaces >= 0 && l.Format != inthdr.Format2016
	if level2 {
		asked |= HopIngress2 | HopEgress2
	}
	id := inthdr.StartOfPath
	for k := range r.Hops {
		h := &r.Hops[k]
		if h.Known&asked != asked {
			return
		}
		second := uint64(0)
		switch {
		case level2 && l.Format == inthdr.FormatGEANT:
			second = uint64(h.Ingress2)<<16 | uint64(h.Egress2)
		case level2:
			second = uint64(h.Ingress2)<<32 | uint64(h.Egress2)
		}
		in, out := uint16(h.Ingress), uint16(h.Egress)
		if l.Interfaces < 0 {
			in = unknownInterface
		}
		if egress < 0 {
			out = unknownInterface
		}
		id = id.Via(h.NodeID, in, out, second)
	}
	r.Path = uint64(id)
	r.Known |= KnownPath
}
