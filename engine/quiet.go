package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/strip"
	"intsink/flows"
)

// quietState is what quietRun needs to know besides the burst, and what it tells.
type quietState struct {
	detector   *event.Detector
	lanes      []event.FastPolicy
	tick       uint32 // now, as flows.Tick
	refresh    uint32 // now, as flows.Flow.NextRefresh has it
	generation uint32 // of the rules
	now        int64
	calm       bool // no queue, no interface is in an episode

	samples uint64 // bit j: packet j is quiet, but a sample: it keeps its INT
}

func (q *quietState) begin(w *Worker, now int64) {
	*q = quietState{
		detector: w.detector, lanes: w.detector.FastPolicies(), generation: uint32(w.generation),
		calm: w.detector.NoEpisode(now), tick: flows.Tick(now), refresh: uint32(now >> flows.RefreshShift), now: now,
	}
}

// quietGo handles b.int[from:b.nINT] as long as they are Common packets that are as
// their flows' last ones: they are counted, and lose their INT where they are UDPv4 and
// no samples, whose info is filled. It returns the place of the first that is not, with which nothing is done.
//
// quietRun is the same, written in assembly where there is such.
func quietGo(q *quietState, b *burst, from int) (next int) {
	for j := from; j < min(b.nINT, mbuf.MaxBurst); j++ {
		i := b.int[j] & (mbuf.MaxBurst - 1)
		info, flow := b.known[j], b.flow[j]
		if !info.Common || flow == nil || uint32(flow.Generation) != q.generation || int(flow.Watch) >= len(q.lanes) {
			return j
		}
		f, lane, size := b.vec[i].Bytes(), &q.lanes[flow.Watch], info.Size
		if info.UDPv4 {
			size = info.UDPv4Size(f)
		}
		if flow.Full(size) {
			return j
		}
		if lane.WatchesFabric && !(q.calm && lane.BelowThresholds(f[info.Stack:][:info.StackLen], info)) || !q.detector.Unchanged(q.now, flow, f, info) {
			return j
		}
		flow.Count(size)
		if lane.TakeSample() {
			q.samples |= 1 << j
			b.fill(j)
			continue
		}
		if !info.UDPv4 {
			b.leave(j)
			continue
		}
		b.vec[i].Adj(strip.UDPv4(f, info))
	}
	return b.nINT
}
