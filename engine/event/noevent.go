// NoEvent and Unchanged: whether a packet is as its flow's last one, below all thresholds and
// out of episodes, so that Packet need not run.

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
// Unknown values (all ones) need no test: they match no known path, and as a latency they are 2 s or more from
// every reference that a path is stored with, or all values lie in the deadband.
func (d *Detector) Unchanged(now int64, f *flows.Flow, frame []byte, i *inthdr.Info) bool {
	l := &d.view.Policies[f.Watch]
	if l.Scaled || !l.noPending(now, f, i) {
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
// next packet goes through Packet once. Sequence numbers that nobody looks at from now on are not missed
// later, and paths beyond those that are to be known are forgotten. A refresh comes no later than the rules
// have it now; flows that change their watch at once have theirs one after the other.
func (d *Detector) Rematch(now int64, f *flows.Flow) {
	f.PathHops = 0
	if int(f.Watch) >= d.view.policies {
		f.MissedPackets()
		return
	}
	p := &d.policies[f.Watch]
	if !p.Events.Has(Loss) {
		f.MissedPackets()
	}
	if !p.Events.Has(HopLatency) {
		for i := range f.Hops {
			f.SetWindow(i, 0)
		}
	}
	if !p.Events.Has(EndToEnd) {
		f.SetEndWindow(0)
	}
	f.NumPaths = min(f.NumPaths, uint8(p.mostPaths()))
	if latest := uint64(p.refreshLeast) + p.refreshSpan; p.Events.Has(Refresh) && f.NextRefresh != 0 && int32(f.NextRefresh-d.refreshAt(now, int64(latest))) > 0 {
		d.random = nextRandom(d.random)
		f.NextRefresh = d.refreshAt(now, partOf(latest, d.random))
	}
}

// ReportedSamples records that packets without an event are reported as samples: packet j of the
// burst where bit j is set in which; its flow is of[j], with hash hashes[j]. It goes through the bits in
// order, up to the first packet of another watch, and does for each packet what Reported does. It returns
// the watch, and the bits that it went through.
//
//go:noinline
func (d *Detector) ReportedSamples(now int64, of *[64]*flows.Flow, hashes *[64]uint64, which uint64) (watch uint8, reported uint64) {
	if which == 0 {
		return 0, 0
	}
	tick, left := max(flows.Tick(now), 1), which
	watch = of[bits.TrailingZeros64(which)&63].Watch
	p := &d.policies[watch]
	soonest, span, stretched := now+p.refreshLeast, p.refreshSpan, d.Stretch != NoStretch
	for ; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & 63
		f := of[j]
		if f.Watch != watch {
			break
		}
		f.LastReport, f.LastEvents = tick, uint32(Sample.Set())
		if stretched { // budgets are short
			f.NextRefresh = d.refreshAfterSample(now, p, hashes[j])
			continue
		}
		f.NextRefresh = refreshAfter(soonest + partOf(span, randomOf(hashes[j], now)))
	}
	reported = which &^ left
	d.Counters.Fired[Sample] += uint64(bits.OnesCount64(reported))
	return watch, reported
}

// noPending reports that no window of f has a bit set, no refresh is due, and its current path
// has as many hops as i.
func (l *FastPolicy) noPending(now int64, f *flows.Flow, i *inthdr.Info) bool {
	return f.Settled(l.Flags, l.Mask) && ^(refreshTick(now)-f.NextRefresh)&l.Refresh == 0 && i.Hops == uint16(f.PathHops)
}

// comparePath compares n hops, the first at frame[at], with the flow's current path: ok if all
// nodes and interfaces are the same and each latency is within the absolute deadband of its
// reference. sum is the sum of the latencies.
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
		if uint32(ids) != known.Node || uint32(ids>>32) != known.Interfaces || !Within(x, known.Ref, l.Absolute) {
			return 0, false
		}
		sum += uint64(x)
	}
	return sum, true
}

// fabricThresholds are the lowest thresholds of queues and interfaces: a packet with a hop that
// reaches one goes through Packet.
type fabricThresholds struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// FabricSampleDue reports that the next packet must go through Packet (see SampleFabric).
func (d *Detector) FabricSampleDue() bool { return d.fabricSampleDue }

// SampleFabric counts n packets, and sets FabricSampleDue from time to time: one packet
// that gives no event then goes through Packet nevertheless, so that the tables of queues,
// interfaces and links stay current. At most one packet in 256, and 10,000 a second: it costs
// as much as 20 others.
func (d *Detector) SampleFabric(now int64, n int) {
	d.sinceFabricSample += n
	if d.sinceFabricSample < fabricSampleEvery || now-d.fabricSampledAt < fabricSampleNs {
		return
	}
	d.sinceFabricSample, d.fabricSampledAt, d.fabricSampleDue = 0, now, true
}

// SkipFabricSample ends FabricSampleDue after a burst with a packet that was to update the tables:
// where none did, such as one of INT-MX or of a flow that no watch selects, the next sample is in its
// time. Else each burst would have such a packet.
func (d *Detector) SkipFabricSample() { d.fabricSampleDue = false }

// NextFabricSample says when FabricSampleDue will be set: after n more packets, at a time.
func (d *Detector) NextFabricSample() (n int, at int64) {
	if d.fabricSampleDue {
		return 0, 0
	}
	return fabricSampleEvery - d.sinceFabricSample, d.fabricSampledAt + fabricSampleNs
}

const (
	fabricSampleEvery = 256
	fabricSampleNs    = 100_000
)

// noEpisode reports whether no hop of a Common packet reaches a threshold of l, and none of
// its queues and interfaces is in an episode that the packet can count for. stack are its hops.
//
//go:noinline
func (v *FastView) noEpisode(l *FastPolicy, stack []byte, i *inthdr.Info) bool {
	hopLen := int(i.HopLen)
	queues, interfaces := v.Filters(l, i.QueueAt > 0, i.TxAt > 0)
	for len(stack) >= hopLen && hopLen >= inthdr.BasicHopLen {
		hop := stack[:hopLen]
		stack = stack[hopLen:]
		if reaches(hop, inthdr.BasicHopLen-4, ^uint32(0), l.Latency) || i.QueueAt > 0 && reaches(hop, i.QueueAt, 0xffffff, l.Raise) ||
			i.TxAt > 0 && reaches(hop, i.TxAt, ^uint32(0), l.Tx) {
			return false
		}
		if !queues && !interfaces {
			continue
		}
		queue, first := uint8(unknown32>>24), binary.LittleEndian.Uint64(hop)
		if i.QueueAt > 0 {
			queue = hop[i.QueueAt]
		}
		if queues && v.Queues.Has(v.Bit(first, queue)) || interfaces && v.Interfaces.Has(v.Bit(first, 0)) {
			return false
		}
	}
	return true
}

// reaches reports whether the value at an offset of a hop is known and, under mask, not
// below a threshold.
func reaches(hop []byte, at uint8, mask, threshold uint32) bool {
	x := binary.BigEndian.Uint32(hop[at:])
	return x&mask >= threshold && x&mask != mask
}

// refreshAfterSample returns when a refresh is due after a report of a sample alone, of a flow with that
// hash. Its chance is made of hash and time: it is the same wherever, and in whatever order, samples are
// handled.
func (d *Detector) refreshAfterSample(now int64, p *Policy, hash uint64) uint32 {
	return d.refreshAt(now, p.refreshLeast+partOf(p.refreshSpan, randomOf(hash, now)))
}

// randomOf returns a random number for a flow's hash and a time.
func randomOf(hash uint64, now int64) uint64 { return (hash ^ uint64(now)) * 0x9e3779b97f4a7c15 }
