package engine

import (
	"intsink/engine/event"
)

// detect asks of every INT packet whether it is worth a report.
func (w *Worker) detect(p *path, b *burst) {
	b.fired = false
	o := w.observation
	for j := range b.nINT {
		i := b.int[j]
		info, flow := &b.info[i], b.flow[j]
		p.counters.INT[info.Type]++
		if info.Reason != 0 {
			p.counters.Malformed[info.Reason]++
		}
		b.events[j] = 0
		fresh := b.fresh>>j&1 != 0
		if flow == nil {
			continue // no room that would not take another packet's flow of this burst
		}
		if fresh || flow.Generation != w.generation {
			flow.Generation = w.generation
			flow.Watch = w.rules.match(&b.keys[j])
		}
		if flow.Watch == NoWatch {
			continue
		}
		f := b.frame[i]
		o.Stack = f[info.Stack : int(info.Stack)+int(info.StackLen)]
		o.HopLen, o.Hops = int(info.HopLen), int(info.Hops)
		o.Layout = w.locator.Layout(info.Bitmap)
		o.MTUExceeded = info.MTUExceeded
		o.Odd = info.Reason != 0
		o.Bytes = b.vec[i].PktLen() - int(info.End-info.Start)
		o.FlowHash = b.hashes[j]
		if tcpFlags(f, &b.layers[i], info)&(tcpFIN|tcpRST) != 0 {
			flow.Closing = true
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
