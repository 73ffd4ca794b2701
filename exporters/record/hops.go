// Puts the hops of the reported packet into a record: reads values by inthdr.Layout, makes
// timestamps absolute, derives links, latencies and the path's id.

package record

import (
	"encoding/binary"
	"math"

	"intsink/engine/event"
	"intsink/engine/inthdr"
)

// stack reads the hops that lie within the first n bytes of the frame, and derives links,
// latencies and the path from them.
func (d *Decoder) stack(n int) {
	r, i := &d.record, &d.info
	if i.HopExceeded {
		r.Flags |= HopLimit
	}
	if i.MTUExceeded {
		r.Flags |= MTUExceeded
	}
	if int(i.End) > n {
		r.Flags |= Truncated
	}
	switch i.Reason {
	case inthdr.ReasonNone:
	case inthdr.ReasonUnknownDomain: // where the source's own metadata ends and hops begin is not known
		return
	default:
		if int(i.Stack) <= n {
			r.Flags |= Malformed
		}
		return
	}
	if at, length := d.locator.Place(i, inthdr.DeviceID); length > 0 && at+length <= n {
		r.DeviceID = append(r.DeviceID, d.frame[at:at+length]...)
	}
	if i.Type != inthdr.MD || int(i.Stack) > n {
		return
	}
	r.HopCount = i.Hops
	r.Known |= KnownHopCount
	layout := d.locator.Layout(i)
	for k := int(i.Hops) - 1; k >= 0; k-- { // the newest hop is the first on the wire
		at := int(i.Stack) + k*int(i.HopLen)
		if to := at + int(i.HopLen); to <= n {
			d.hop(d.frame[at:to], layout)
		}
	}
	d.derive(layout)
}

// hop appends one hop. A word of all ones stands for values that the node could not provide.
// Of two values in one word either may be missing alone, except a queue id: its eight bits
// of ones may be an id.
func (d *Decoder) hop(b []byte, l *inthdr.Layout) {
	r := &d.record
	r.Hops = append(r.Hops, Hop{})
	h := &r.Hops[len(r.Hops)-1]
	if l.Format == inthdr.Format2016 {
		h.read2016(b, l)
	} else {
		h.read(b, l)
	}
	model := d.models.Of(h.NodeID) // a hop without an id has NodeID 0: the model that lists no nodes
	if h.Known&HopLatency != 0 {
		h.LatencyNs = model.Latency(h.LatencyNs)
	}
	if h.Known&HopOccupancy != 0 {
		h.Occupancy = model.Occupancy(h.Occupancy)
	}
}

// read reads a hop of INT 1.0 and 2.x. It leaves timestamps as on the wire.
func (h *Hop) read(b []byte, l *inthdr.Layout) {
	word := func(at int8, known HopKnown, v *uint32) {
		if at < 0 {
			return
		}
		if *v = binary.BigEndian.Uint32(b[at:]); *v != unknown {
			h.Known |= known
		}
	}
	word(l.NodeID, HopNode, &h.NodeID)
	if l.Interfaces >= 0 {
		h.Ingress, h.Egress = uint32(binary.BigEndian.Uint16(b[l.Interfaces:])), uint32(binary.BigEndian.Uint16(b[l.Interfaces+2:]))
		if h.Ingress != 1<<16-1 {
			h.Known |= HopIngress
		}
		if h.Egress != 1<<16-1 {
			h.Known |= HopEgress
		}
	}
	word(l.HopLatency, HopLatency, &h.LatencyNs)
	if l.Queue >= 0 {
		if v := binary.BigEndian.Uint32(b[l.Queue:]); v != unknown {
			h.Queue, h.Occupancy = uint8(v>>24), v&(1<<24-1)
			h.Known |= HopQueue
			if h.Occupancy != 1<<24-1 {
				h.Known |= HopOccupancy
			}
		}
	}
	switch {
	case l.Level2Interfaces < 0:
	case l.Format == inthdr.FormatGEANT: // queue id and occupancy are one word, unknown as a whole
		var both uint32
		word(l.Level2Interfaces, HopIngress2|HopEgress2, &both)
		h.Ingress2, h.Egress2 = both>>16, both&(1<<16-1)
	default:
		word(l.Level2Interfaces, HopIngress2, &h.Ingress2)
		word(l.Level2Interfaces+4, HopEgress2, &h.Egress2)
	}
	word(l.TxUtilization, HopTxUtilization, &h.TxUtilization)
	stamp := func(at int8, known HopKnown, v *uint64) {
		switch {
		case at < 0:
		case stampBits(l.Format) == 64:
			if *v = binary.BigEndian.Uint64(b[at:]); *v != 1<<64-1 {
				h.Known |= known
			}
		default:
			if *v = uint64(binary.BigEndian.Uint32(b[at:])); *v != unknown {
				h.Known |= known
			}
		}
	}
	stamp(l.IngressTimestamp, HopIngressTime, &h.IngressTime)
	stamp(l.EgressTimestamp, HopEgressTime, &h.EgressTime)
}

// read2016 reads a hop of the June 2016 format: values of 31 bits; the egress port has an
// instruction bit of its own, where later formats have the egress timestamp; no queue id.
func (h *Hop) read2016(b []byte, l *inthdr.Layout) {
	const mask = 1<<31 - 1
	word := func(at int8, known HopKnown, v *uint32) {
		if at < 0 {
			return
		}
		if *v = binary.BigEndian.Uint32(b[at:]) & mask; *v != mask {
			h.Known |= known
		}
	}
	word(l.NodeID, HopNode, &h.NodeID)
	word(l.Interfaces, HopIngress, &h.Ingress)
	word(l.EgressTimestamp, HopEgress, &h.Egress)
	word(l.HopLatency, HopLatency, &h.LatencyNs)
	word(l.Queue, HopOccupancy, &h.Occupancy)
	word(l.TxUtilization, HopTxUtilization, &h.TxUtilization)
	var stamp uint32
	word(l.IngressTimestamp, HopIngressTime, &stamp)
	h.IngressTime = uint64(stamp)
}

// stampBits returns the width of a format's timestamps in bits.
func stampBits(f inthdr.Format) uint8 {
	switch f {
	case inthdr.Format2, inthdr.FormatGEANT:
		return 64
	case inthdr.Format1:
		return 32
	}
	return 31
}

// derive sets links, latencies and the path, which take more than one hop.
func (d *Decoder) derive(l *inthdr.Layout) {
	r, width := &d.record, stampBits(l.Format)
	for k := 1; k < len(r.Hops); k++ {
		from, to := &r.Hops[k-1], &r.Hops[k]
		if from.Known&(HopNode|HopEgressTime) != HopNode|HopEgressTime || to.Known&(HopNode|HopIngressTime) != HopNode|HopIngressTime {
			continue
		}
		egress := event.Stamp{Value: from.EgressTime, Bits: width, Model: d.models.Of(from.NodeID)}
		ingress := event.Stamp{Value: to.IngressTime, Bits: width, Model: d.models.Of(to.NodeID)}
		if ns, known := egress.Until(r.Time, ingress); known && ns >= 0 {
			r.Links = append(r.Links, Link{from.NodeID, to.NodeID, uint64(ns)})
		}
	}
	for k := range r.Hops {
		h := &r.Hops[k]
		model := d.models.Of(h.NodeID)
		h.Known &^= absolute(&h.IngressTime, h.Known&HopIngressTime, model, width, r.Time)
		h.Known &^= absolute(&h.EgressTime, h.Known&HopEgressTime, model, width, r.Time)
	}
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

// path sets the path's id if all nodes and interfaces are known.
func (d *Decoder) path(l *inthdr.Layout) {
	r := &d.record
	asked := HopNode | HopIngress | HopEgress
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
		id = id.Via(h.NodeID, uint16(h.Ingress), uint16(h.Egress), second)
	}
	r.Path = uint64(id)
	r.Known |= KnownPath
}
