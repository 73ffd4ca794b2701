package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/engine/inthdr"
	"intsink/engine/watch"
)

// detect asks of every INT packet whether it is worth a report. The common packet,
// of which there is nothing to say, loses its INT at once, while it is in the cache;
// the rest waits for its reports.
func (w *Worker) detect(p *linkState, b *burst) {
	b.nDeferred, b.edges, b.reportable = 0, 0, 0
	others := 0
	w.detector.Sync(b.now)
	look := w.detector.SampleFabric(b.now, b.nINT)
	common := p.link.Host != nil && !w.watches.Asks()
	w.pass.begin(w, b.now)
	for j := 0; ; j++ {
		if common && !look {
			if j = passUnchanged(&w.pass, b, j); w.pass.samples != 0 {
				w.takeSamples(b)
			}
		}
		if j >= min(b.nINT, mbuf.MaxBurst) {
			break
		}
		b.complete(j)
		if w.watches.Asks() {
			w.factsChanged(b, j)
		}
		if !common && !look && w.passTapped(b, j) {
			continue
		}
		look = false
		b.deferStrip(j)
		if info := &b.info[b.places[j]]; info.Type != inthdr.MD {
			p.counters.INT[info.Type&3]++
			others++
		}
		if set := w.detectOne(p, b, j); set != 0 {
			b.events[j] = set
			b.reportable |= 1 << j
		}
		w.pass.noEpisode = w.detector.NoEpisode(b.now)
	}
	p.counters.INT[inthdr.MD] += uint64(b.nINT - others)
	p.counters.Malformed[0] = 0 // no reason
}

// takeSamples makes samples of packets that passUnchanged left.
//
//go:noinline
func (w *Worker) takeSamples(b *burst) {
	samples, n := w.pass.samples, b.nDeferred
	w.detector.ReportedSamples(b.now, &b.flow, samples)
	for left := samples; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left) & (mbuf.MaxBurst - 1)
		b.events[j], b.watch[j] = event.Sample.Set(), b.flow[j].Watch
		b.deferred[n&(mbuf.MaxBurst-1)] = uint8(j)
		n++
	}
	b.nDeferred = n
	b.reportable |= samples
	w.pass.samples = 0
}

// passTapped is passUnchanged for taps, and where watches ask for more than the key. The
// packet keeps its INT for the moment.
//
//go:noinline
func (w *Worker) passTapped(b *burst, j int) bool {
	i := b.places[j]
	info, flow := &b.info[i], b.flow[j]
	if flow == nil || flow.Generation != w.generation || !info.Common {
		return false
	}
	d, f := w.detector, b.vec[i].Bytes()
	if !d.NoEvent(b.now, flow, f, info) {
		return false
	}
	flow.Count(info.Size)
	b.deferStrip(j)
	return true
}

// detectOne handles a packet that is not like the one before it.
//
//go:noinline
func (w *Worker) detectOne(p *linkState, b *burst, j int) event.Set {
	i := b.places[j]
	info, flow := &b.info[i], b.flow[j]
	p.counters.Malformed[info.Reason]++
	if flow == nil {
		return 0 // no room, in a flood or in a burst
	}
	f := b.vec[i].Bytes()
	if info.UDPv4 {
		inthdr.UDPv4Layers(f, info, &b.layers[i])
	}
	flow.Count(info.Size)
	fresh := b.fresh>>j&1 != 0
	if fresh || flow.Generation != w.generation {
		flow.Generation = w.generation
		flow.Watch = w.matchWatch(b, j)
	}
	if flow.Watch == watch.None {
		return 0
	}
	o := w.observation
	o.Frame, o.Info, o.FlowHash = f, info, b.hashes[j]
	o.Common, o.Layout = info.Common, w.locator.Layout(info)
	o.Sequence, o.SequenceBits = w.locator.Sequence(f, info)
	if tcpFlags(f, &b.layers[i], info)&(tcpFIN|tcpRST) != 0 {
		flow.Close()
	}
	path := flow.PathHash
	set := w.detector.Packet(b.now, flow, fresh, int(flow.Watch), o)
	if flow.PathHash != path {
		inspect.Learn(w.queries.paths, b.now, flow.PathHash, o)
	}
	if info.Reason != inthdr.ReasonNone {
		if e := w.malformedContents(p, b, info.Reason, w.rules.Watches[flow.Watch].Policy.Events); e != 0 {
			set |= e
			w.detector.Reported(b.now, flow, set)
		}
	}
	b.watch[j] = flow.Watch
	if set&event.Triggered != 0 {
		b.trigger[j] = w.detector.Trigger
	}
	if set.Has(event.Congestion) && w.detector.Edge {
		b.edges |= 1 << j
	}
	return set
}

// malformedContents is the event of a packet whose INT is removed but whose contents make no
// sense, at most one per port and second. Where nobody wants to hear of it, it takes
// nobody's turn.
func (w *Worker) malformedContents(p *linkState, b *burst, reason inthdr.Reason, wanted event.Set) event.Set {
	e := event.Malformed
	if reason == inthdr.ReasonUnknownDomain {
		e = event.UnknownDomain
	}
	if !wanted.Has(e) {
		w.detector.Counters.Fired[e]++
		return 0
	}
	return w.detector.Limited(b.now, e, &p.limits.lastReported[e])
}
