// What a detector does for packets that the fast path passes: samples that are reported, flows that
// change their watch.

package event

import (
	"math/bits"

	"intsink/flows"
)

// Rematch adapts f, which is not new, to another watch or other rules. Windows of events that
// are no longer watched are cleared, or they would keep the flow from the fast path; the
// next packet goes through Packet once. Sequence numbers that nobody looks at from now on are not missed
// later, and paths beyond those that are to be known are forgotten. A refresh comes no later than the rules
// have it now; flows that change their watch at once have theirs one after the other.
func (d *Detector) Rematch(now int64, f *flows.Flow) {
	Unstore(f)
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
	if latest := uint64(p.refreshLatest); p.Events.Has(Refresh) && f.NextRefresh != 0 && int32(f.NextRefresh-d.refreshAt(now, int64(latest))) > 0 {
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

// fabricThresholds are the lowest thresholds of queues and interfaces: a packet with a hop that
// reaches one goes through Packet.
type fabricThresholds struct{ raise, latency, tx uint32 }

// never is a threshold that no known value reaches.
const never = unknown32

// refreshAfterSample returns when a refresh is due after a report of a sample alone, of a flow with that
// hash. Its chance is made of hash and time: it is the same wherever, and in whatever order, samples are
// handled.
func (d *Detector) refreshAfterSample(now int64, p *Policy, hash uint64) uint32 {
	return d.refreshAt(now, p.refreshLeast+partOf(p.refreshSpan, randomOf(hash, now)))
}

// randomOf returns a random number for a flow's hash and a time.
func randomOf(hash uint64, now int64) uint64 { return (hash ^ uint64(now)) * 0x9e3779b97f4a7c15 }
