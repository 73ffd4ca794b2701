package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
)

// detect asks of every INT packet whether it is worth a report.
func (w *Worker) detect(p *path, b *burst) {
	b.fired = false
	o := w.observation
	for j := range b.nINT {
		i := b.int[j] & (mbuf.MaxBurst - 1)
		info, flow := &b.info[i], b.flow[j]
		p.counters.INT[info.Type&3]++
		if info.Reason != 0 {
			p.counters.Malformed[info.Reason]++
		}
		b.events[j] = 0
		if flow == nil {
			continue // no room that would not take another packet's flow of this burst
		}
		fresh := b.fresh>>j&1 != 0
		if fresh || flow.Generation != w.generation {
			flow.Generation = w.generation
			flow.Watch = w.rules.match(&b.keys[j])
		}
		if flow.Watch == NoWatch {
			continue
		}
		o.Frame, o.Info, o.FlowHash = b.frame[i], info, b.hashes[j]
		o.Layout = w.locator.Layout(info.Bitmap)
		if l := &b.layers[i]; l.TCPFlags != 0 || info.NPT == 2 {
			flow.Closing = flow.Closing || tcpFlags(b.frame[i], l, info)&(tcpFIN|tcpRST) != 0
		}
		set := w.detector.Packet(b.now, flow, fresh, int(flow.Watch), o)
		b.events[j] = set
		b.fired = b.fired || set != 0
	}
}

// countEvents adds the events of one report that was built.
func (w *Worker) countEvents(set event.Set) {
	for e := range event.NumEvents {
		if set.Has(event.Event(e)) {
			w.counters.Reported[e]++
		}
	}
}
