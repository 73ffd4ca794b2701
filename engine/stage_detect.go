package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/strip"
)

// detect asks of every INT packet whether it is worth a report. The common packet,
// of which there is nothing to say, loses its INT at once, while it is in the cache;
// the rest waits for its reports.
func (w *Worker) detect(p *path, b *burst) {
	fired, others := event.Set(0), 0
	b.nRest = 0
	strips := p.link.Host != nil
	look, things := w.detector.Survey(b.nINT), w.detector.WatchesThings()
	for j := range min(b.nINT, mbuf.MaxBurst) {
		i := b.int[j] & (mbuf.MaxBurst - 1)
		info, flow := &b.info[i], b.flow[j]
		b.events[j] = 0
		if flow == nil {
			p.counters.Malformed[info.Reason]++
			p.counters.INT[info.Type&3]++
			others++
			b.leave(i)
			continue // no room that would not take another packet's flow of this burst
		}
		flow.Count(int(info.Size))
		if (info.Usual || w.usual(b, int(i))) && flow.Generation == w.generation && !look &&
			w.detector.Quiet(b.now, flow, b.frame[i], info) &&
			(!things || w.detector.Calm(b.now, flow, b.frame[i], info, w.locator.Layout(info))) {
			if info.Plain && strips {
				b.vec[i].Adj(strip.Plain(b.frame[i], info))
			} else {
				b.leave(i)
			}
			continue
		}
		look = false
		b.leave(i)
		if info.Type != inthdr.MD {
			p.counters.INT[info.Type&3]++
			others++
		}
		set := w.detectOne(p, b, j)
		b.events[j] = set
		fired |= set
	}
	p.counters.INT[inthdr.MD] += uint64(b.nINT - others)
	p.counters.Malformed[0] = 0 // no reason
	b.fired = fired != 0
}

// usual is Info.Usual for packets that Recall did not see. What may end a
// connection is not usual.
//
//go:noinline
func (w *Worker) usual(b *burst, i int) bool {
	info := &b.info[i]
	return !info.Plain && info.NPT != 2 && b.layers[i].TCPFlags&(tcpFIN|tcpRST) == 0 && w.locator.Usual(info)
}

// detectOne handles a packet that is not like the one before it.
//
//go:noinline
func (w *Worker) detectOne(p *path, b *burst, j int) event.Set {
	i := b.int[j]
	info, flow := &b.info[i], b.flow[j]
	if info.Plain {
		inthdr.PlainLayers(b.frame[i], info, &b.layers[i])
	}
	p.counters.Malformed[info.Reason]++
	fresh := b.fresh>>j&1 != 0
	if fresh || flow.Generation != w.generation {
		flow.Generation = w.generation
		flow.Watch = w.rules.match(&b.keys[j])
	}
	if flow.Watch == NoWatch {
		return 0
	}
	o := w.observation
	o.Frame, o.Info, o.FlowHash = b.frame[i], info, b.hashes[j]
	o.Layout = w.locator.Layout(info)
	o.Sequence, o.SequenceBits = w.locator.Sequence(b.frame[i], info)
	flow.Closing = flow.Closing || tcpFlags(b.frame[i], &b.layers[i], info)&(tcpFIN|tcpRST) != 0
	set := w.detector.Packet(b.now, flow, fresh, int(flow.Watch), o)
	if info.Reason != inthdr.ReasonNone {
		set |= w.odd(p, b, info.Reason) & w.rules.Policies[flow.Watch].Events
	}
	if set&event.Triggered != 0 {
		b.trigger[j] = w.detector.Trigger
	}
	return set
}

// odd is the event of a packet whose INT is removed but whose contents make no
// sense, at most one per port and second.
func (w *Worker) odd(p *path, b *burst, reason inthdr.Reason) event.Set {
	e := event.Malformed
	if reason == inthdr.ReasonUnknownDomain {
		e = event.UnknownDomain
	}
	return w.detector.Limited(b.now, e, &p.told[e])
}

// countEvents adds the events of one report that was built.
func (w *Worker) countEvents(set event.Set) {
	for e := range event.NumEvents {
		if set.Has(event.Event(e)) {
			w.counters.Reported[e]++
		}
	}
}
