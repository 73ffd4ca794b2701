// Walks over the INT-MD hops of a deferred packet: reads each hop's values by the offsets of
// inthdr.Layout, hashes the path, sums latencies to end_to_end.

package event

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// unknown32 is a value that a node did not tell.
const unknown32 = inthdr.Unknown

// hops goes once over the packet's hops, tests every latency against the one
// last reported for that node, their sum against the end-to-end latency, and
// compares the path: a keyed hash over the ordered (node id, level-1 and level-2 interfaces if
// present) and the hop count: without bit 1 a path is its nodes. A packet with an unknown node or
// interface, without bit 0, or with the M flag, is no evidence of its path. It returns the events, and
// the highest latency, where all are known.
//
// Words that only serve as identities (node id, interfaces) stay in the
// machine's byte order. With bits 0 and 1 set they are the first eight bytes of
// a hop.
func (d *Detector) hops(now int64, f *flows.Flow, p *Policy, o *Observation) (set Set, worst uint32) {
	l := o.Layout
	if l.Format == inthdr.Format2016 {
		return d.hops2016(now, f, p, o)
	}
	hopLen := int(o.Info.HopLen)
	if l.NodeID != 0 {
		return d.withoutNodes(now, f, p, o), unknown32
	}
	hasPath, latency, stamped := !o.Info.MTUExceeded && tellsPath(f, l), int(l.HopLatency), l.HasStampedLatency()
	watched, sum, summed := p.Events.Has(HopLatency), uint64(0), true
	h := uint64(o.Info.Hops)
	stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]
	for i := 0; len(stack) >= hopLen; i++ {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		node := binary.LittleEndian.Uint32(hop)
		first := uint64(node)
		if l.Interfaces >= 0 {
			w := binary.LittleEndian.Uint32(hop[4:])
			hasPath = hasPath && inthdr.InterfacesKnown(w)
			first |= uint64(w) << 32
		}
		hasPath = hasPath && node != unknown32
		h = d.mix(h, first)
		if l.Level2Interfaces >= 0 {
			level2, known := level2Of(hop[l.Level2Interfaces:], l.Format)
			hasPath = hasPath && known
			h = d.mix(h, level2)
		}
		x := uint32(unknown32)
		if latency >= 0 {
			if x = binary.BigEndian.Uint32(hop[latency:]); x != unknown32 && d.models.scale {
				x = d.models.latencyOfWord(node, x)
			}
		} else if stamped {
			x = d.stampedLatency(hop, l)
		}
		if x == unknown32 {
			summed = false
			continue
		}
		sum += uint64(x)
		worst = max(worst, x)
		if node != unknown32 && watched && !isSettled(f, i, node, x, p.Thresholds.Latency.Absolute) {
			set |= d.latency(now, f, node, x, &p.Thresholds, o)
		}
	}
	if p.Events.Has(EndToEnd) {
		set |= d.endToEndLatency(now, f, p, o, sum, summed)
	}
	if hasPath {
		set |= d.path(now, f, p, o, h)
	}
	if !summed {
		worst = unknown32
	}
	return set, worst
}

// isSettled reports whether hop i of a packet stands where it always does, and its latency x is within the absolute
// deadband, and was lately.
func isSettled(f *flows.Flow, i int, node, x, absolute uint32) bool {
	if i >= int(f.NumHops) || i >= flows.MaxHops {
		return false
	}
	k := &f.Hops[i]
	return k.Node == node && k.Ref != unknown32 && f.Window(i) == 0 && Within(x, k.Ref, absolute)
}

// stampedLatency is the latency of a hop by its timestamps, in nanoseconds.
//
//go:noinline
func (d *Detector) stampedLatency(hop []byte, l *inthdr.Layout) uint32 {
	var n hopValues
	d.readHop(&n, hop, l)
	return n.Latency
}

// withoutNodes is hops where the bitmap does not ask for node ids: there is no path and no node to
// hold a latency against, but the packet may tell the latency of the whole path.
//
//go:noinline
func (d *Detector) withoutNodes(now int64, f *flows.Flow, p *Policy, o *Observation) Set {
	hopLen := int(o.Info.HopLen)
	if !p.Events.Has(EndToEnd) || hopLen == 0 {
		return 0
	}
	sum, summed := uint64(0), o.Layout.HopLatency >= 0 || o.Layout.HasStampedLatency()
	for stack := o.Frame[o.Info.Stack:][:o.Info.StackLen]; len(stack) >= hopLen; stack = stack[hopLen:] {
		var n hopValues
		d.readHop(&n, stack[:hopLen], o.Layout)
		summed = summed && n.Latency != unknown32
		sum += uint64(n.Latency)
	}
	return d.endToEndLatency(now, f, p, o, sum, summed)
}

// level2Of reads a hop's level-2 interfaces, which have one word in FormatGEANT, and reports whether both are known.
func level2Of(b []byte, format inthdr.Format) (both uint64, known bool) {
	if format == inthdr.FormatGEANT {
		w := binary.LittleEndian.Uint32(b)
		return uint64(w), inthdr.InterfacesKnown(w)
	}
	both = binary.LittleEndian.Uint64(b)
	return both, uint32(both) != unknown32 && both>>32 != unknown32
}

// endToEndLatency finds the latency of the whole path: from the source's ingress timestamp to
// now, or the sum of the hop latencies.
func (d *Detector) endToEndLatency(now int64, f *flows.Flow, p *Policy, o *Observation, sum uint64, summed bool) Set {
	t := &p.Thresholds
	if !t.PTP {
		if !summed || o.Info.MTUExceeded { // some node had no room to add its own
			return 0
		}
		return d.endToEnd(now, f, uint32(min(sum, unknown32-1)), t, o)
	}
	var source hopValues
	d.readHop(&source, o.Frame[int(o.Info.Stack)+int(o.Info.StackLen)-int(o.Info.HopLen):], o.Layout)
	if source.IngressTime == unknown64 || !source.model.Unix || o.Layout.Format == inthdr.FormatIFA { // whose clocks begin again
		return 0
	}
	x := source.model.age(now+d.Wall-t.ClockOffset, source.IngressTime, source.stampBits)
	if x < 0 {
		d.Counters.WaySkew++
		return 0
	}
	return d.endToEnd(now, f, uint32(min(x, unknown32-1)), t, o)
}

// unknown64 is unknown32 for timestamps.
const unknown64 = inthdr.UnknownTime

// hopValues are the values of one hop, with what its node's model says of them.
type hopValues struct {
	inthdr.Hop
	rest      inthdr.Rest
	stampBits uint8 // of the timestamps that count
	model     *NodeModel
}

var nothingElse = inthdr.Rest{Buffer: unknown32, BufferOccupancy: unknown32, Congestion: unknown32}

// readHop reads one hop of a packet into n, in the units of its node's model. A latency that the bitmap does not ask
// for is the difference of its timestamps, where these are known and do not run backwards.
func (d *Detector) readHop(n *hopValues, hop []byte, l *inthdr.Layout) {
	readHop(n, hop, l)
	if d.models.any {
		d.models.apply(n, l)
	}
	if l.HasStampedLatency() && n.IngressTime != unknown64 && n.EgressTime != unknown64 {
		if ns := long(nearest(n.EgressTime-n.IngressTime, n.stampBits), n.model.TimestampUnit); ns >= 0 {
			n.Latency = uint32(min(ns, unknown32-1))
		}
	}
}

// readQueue is readHop for what congestion asks of a hop.
func (d *Detector) readQueue(n *hopValues, hop []byte, l *inthdr.Layout) {
	if d.models.any || l.HasRest || l.Format == inthdr.Format2016 || l.HasStampedLatency() {
		d.readHop(n, hop, l)
		return
	}
	n.rest = nothingElse
	l.ReadQueue(&n.Hop, hop)
}

// readHop reads one hop of a packet into n, as it stands there. Where it says nothing of the queue, its buffer (INT 2.1)
// or the congestion status (June 2016) stands for it.
func readHop(n *hopValues, hop []byte, l *inthdr.Layout) {
	l.Read(&n.Hop, hop)
	n.model, n.rest = &asIs, nothingElse
	if l.HasRest {
		l.ReadRest(&n.rest, hop)
		if l.Queue < 0 {
			n.Queue, n.Occupancy = n.rest.Buffer, min(n.rest.BufferOccupancy, n.rest.Congestion) // one of them is there; unknown is above all
		}
	}
	switch l.Format {
	case inthdr.Format1:
		n.stampBits = 32
	case inthdr.Format2016:
		n.stampBits = 31
	default:
		n.stampBits = 64
	}
}
