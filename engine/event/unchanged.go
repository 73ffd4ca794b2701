package event

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
	"intsink/flows"
)

// NoEvent is Packet for most packets: those that are as the flow's last one was, and
// no sample. i must be Common. True: the packet gives no event. False: nothing is
// changed, and Packet must be called.
func (d *Detector) NoEvent(now int64, f *flows.Flow, frame []byte, i *inthdr.Info) bool {
	if int(f.Watch) >= d.view.policies {
		return false
	}
	l := &d.view.Policies[f.Watch]
	if l.sampleDue() || l.Link || l.PTP || l.Fabric && !d.view.noEpisode(l, frame[i.Stack:][:i.StackLen], i) || !d.Unchanged(now, f, frame, i) {
		return false
	}
	l.SampleLeft--
	return true
}

// Unchanged reports whether path and latencies of a packet give no event; then it updates f.
// f must have a watch, and i be Common. It is a function of its own because its few values
// fit into registers.
//
// Unknown values (all ones) need no test: they match no known path, and as a latency they
// lie outside every deadband, or within one that all values lie in.
func (d *Detector) Unchanged(now int64, f *flows.Flow, frame []byte, i *inthdr.Info) bool {
	l := &d.view.Policies[f.Watch]
	if !l.noPending(now, f, i) {
		return false
	}
	sum, ok := comparePath(f, uint(i.Hops), frame, uint(i.Stack), uint(i.HopLen), l)
	if l.PTP {
		return false // hops has the latency of the whole path
	}
	if !ok || sum-uint64(f.EndRef)+l.End > l.EndTwice {
		return false
	}
	f.PathSeen = flows.Tick(now)
	return true
}

// Rematch adapts f, which is not new, to another watch or other rules. Windows of events that
// are no longer watched are cleared, or they would keep the flow from the fast path; the
// next packet goes through Packet once.
func (d *Detector) Rematch(f *flows.Flow) {
	f.PathHops = 0
	if int(f.Watch) >= d.view.policies {
		return
	}
	if p := &d.policies[f.Watch]; !p.Events.Has(HopLatency) {
		for i := range f.Hops {
			f.SetWindow(i, 0)
		}
	}
	if !d.policies[f.Watch].Events.Has(EndToEnd) {
		f.SetEndWindow(0)
	}
}

// ReportedSamples records that packets of a burst which gave no event are reported as
// samples: packet j, of flow of[j], for every bit j of which. It does for all what Reported
// does for one.
func (d *Detector) ReportedSamples(now int64, of *[64]*flows.Flow, which uint64) {
	d.Counters.Fired[Sample] += uint64(bits.OnesCount64(which))
	tick, random := max(flows.Tick(now), 1), d.random
	last, least, span := -1, int64(0), uint64(0)
	for ; which != 0; which &= which - 1 {
		f := of[bits.TrailingZeros64(which)&63]
		f.LastReport, f.LastEvents = tick, uint32(Sample.Set())
		if watch := int(f.Watch); watch != last {
			last, least, span = watch, d.policies[watch].refreshLeast, d.policies[watch].refreshSpan
		}
		random = nextRandom(random)
		f.NextRefresh = d.refreshAt(now, least+randomWithin(span, random))
	}
	d.random = random
}

// noPending reports that no window of f has a bit set, no refresh is due, and its current path
// has as many hops as i.
func (l *FastPolicy) noPending(now int64, f *flows.Flow, i *inthdr.Info) bool {
	return f.Settled(l.Flags, l.Mask) && ^(refreshTick(now)-f.NextRefresh)&l.Refresh == 0 && i.Hops == uint16(f.PathHops)
}

// comparePath compares n hops, the first at frame[at], with the flow's current path: ok if
// all nodes and interfaces are the same and each latency is within the absolute deadband of
// its reference. sum is that of the latencies.
//
//go:noinline
func comparePath(f *flows.Flow, n uint, frame []byte, at, hopLen uint, l *FastPolicy) (sum uint64, ok bool) {
	for _, known := range f.Hops[:n] {
		if at+inthdr.BasicHopLen > uint(len(frame)) {
			return 0, false
		}
		hop := frame[at : at+inthdr.BasicHopLen : at+inthdr.BasicHopLen]
		at += hopLen
		ids, x := binary.LittleEndian.Uint64(hop), binary.BigEndian.Uint32(hop[8:])
		if uint32(ids) != known.Node || uint32(ids>>32) != known.Interfaces || x-known.Ref+l.Absolute > l.Twice {
			return 0, false
		}
		sum += uint64(x)
	}
	return sum, true
}
