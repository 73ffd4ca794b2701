package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/strip"
	"intsink/flows"
)

// passState is what passUnchanged needs to know besides the burst, and what it tells.
type passState struct {
	detector   *event.Detector
	policies   []event.FastPolicy
	tick       uint32 // now, as flows.Tick
	refresh    uint32 // now, as flows.Flow.NextRefresh has it
	generation uint32 // of the rules
	now        int64
	noEpisode  bool // no queue, no interface is in an episode

	samples uint64 // bit j: packet j gives no event but is a sample: it keeps its INT
}

func (q *passState) begin(w *Worker, now int64) {
	*q = passState{
		detector: w.detector, policies: w.detector.FastPolicies(), generation: uint32(w.generation),
		noEpisode: w.detector.NoEpisode(now), tick: flows.Tick(now), refresh: uint32(now >> flows.RefreshShift), now: now,
	}
}

// passUnchangedGo handles b.int[from:b.nINT] as long as they are Common packets that are as
// their flows' last ones: they are counted, and lose their INT where they are UDPv4 and
// no samples, whose info is filled. It returns the place of the first that is not, with which nothing is done.
//
// passUnchanged is the same, written in assembly where there is such.
func passUnchangedGo(q *passState, b *burst, from int) (next int) {
	for j := from; j < min(b.nINT, mbuf.MaxBurst); j++ {
		i := b.places[j] & (mbuf.MaxBurst - 1)
		info, flow := b.header[j], b.flow[j]
		if !info.Common || flow == nil || uint32(flow.Generation) != q.generation || int(flow.Watch) >= len(q.policies) {
			return j
		}
		f, policy, size := b.vec[i].Bytes(), &q.policies[flow.Watch], info.Size
		if info.UDPv4 {
			size = info.UDPv4Size(f)
		}
		if flow.Full(size) {
			return j
		}
		if policy.WatchesFabric && !(q.noEpisode && policy.BelowThresholds(f[info.Stack:][:info.StackLen], info)) || !q.detector.Unchanged(q.now, flow, f, info) {
			return j
		}
		flow.Count(size)
		if policy.TakeSample() {
			q.samples |= 1 << j
			b.complete(j)
			continue
		}
		if !info.UDPv4 {
			b.deferStrip(j)
			continue
		}
		b.vec[i].Adj(strip.UDPv4(f, info))
	}
	return b.nINT
}
