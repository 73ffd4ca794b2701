// Stage detect: completes what is known of each deferred packet, asks the event detector which
// events fired, takes samples, counts malformed contents.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/inspect"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// detect asks of every INT packet that package fast has deferred whether it is worth a
// report. All others gave no event, and have lost their INT; but for samples.
func (w *Worker) detect(p *linkState, b *burst) {
	others := 0
	f := w.fast
	for _, j := range f.Deferred() {
		if before := f.Samples & (1<<j - 1) &^ b.reportable; before != 0 { // samples in front of packet j come first
			w.takeSamples(b, before)
		}
		if flow := f.Flows[j]; flow != nil {
			flow.Release()
		}
		b.keeps |= 1 << j
		b.complete(j)
		info := &b.info[f.At[j]]
		if w.watches.Asks() {
			w.factsChanged(b, int(j))
		}
		if info.Type != inthdr.MD {
			p.counters.INT[info.Type&3]++
			others++
		}
		if w.detectOne(p, b, int(j)) {
			b.reportable |= 1 << j
		}
	}
	if rest := f.Samples &^ b.reportable; rest != 0 {
		w.takeSamples(b, rest)
	}
	p.countINT(f, others)
	p.counters.Malformed[0] = 0 // no reason
	if len(f.Deferred()) > 0 {
		w.detector.SkipFabricSample()
	}
	w.detector.SampleFabric(b.now, f.Len())
}

// countINT counts the INT packets of a burst, but for others, which are counted already.
func (p *linkState) countINT(f *fast.Path, others int) {
	p.counters.INT[inthdr.MX] += uint64(f.MX)
	p.counters.INT[inthdr.MD] += uint64(f.Len() - others - int(f.MX))
}

// complete fills in layers and info of packet j, which still has its INT. Most packets leave
// before they are needed. The first segment becomes as long as that of a packet that was parsed.
func (b *burst) complete(j uint8) {
	if i := b.fast.At[j]; b.parsed>>i&1 == 0 {
		b.parsed |= 1 << i
		m := b.vec[i]
		m.Pullup(min(pullupLen, m.PktLen()))
		b.fast.Fill(b.fast.Template[j], m.Bytes(), m.PktLen(), &b.layers[i], &b.info[i], &b.outers[i])
	}
}

// takeSamples makes samples reportable: packets that give no event else.
//
//go:noinline
func (w *Worker) takeSamples(b *burst, which uint64) {
	for left := which; left != 0; {
		watch, of := w.detector.ReportedSamples(b.now, &w.fast.Flows, &w.fast.Hashes, left)
		left &^= of
		for c := causeOf(event.Sample.Set(), watch, false); of != 0; of &= of - 1 {
			b.cause[bits.TrailingZeros64(of)&(mbuf.MaxBurst-1)] = c
		}
	}
	b.keeps |= which
	b.reportable |= which
}

// detectOne handles a packet that is not like the one before it, and reports whether it has
// events.
//
//go:noinline
func (w *Worker) detectOne(p *linkState, b *burst, j int) bool {
	i := b.fast.At[j]
	info, flow := &b.info[i], b.fast.Flows[j]
	p.counters.Malformed[info.Reason]++
	p.counters.countFlags(info)
	if flow == nil {
		return false // no room, in a flood or in a burst
	}
	f := b.vec[i].Bytes()
	flow.Count(info.Size)
	fresh := b.fresh>>j&1 != 0
	if fresh || flow.Generation != w.generation {
		if !fresh && w.blind.missed(flow.Generation) {
			flow.MissedPackets()
		}
		flow.Generation = w.generation
		if flow.Watch = w.matchWatch(b, j); !fresh {
			w.detector.Rematch(b.now, flow)
		}
	}
	if flow.Watch == watch.None {
		return false
	}
	o := w.scratch.observation
	o.Frame, o.Info, o.FlowHash = f, info, b.fast.Hashes[j]
	o.Common, o.Layout = info.Common, w.locator.Layout(info)
	o.Sequence, o.SequenceBits = w.locator.Sequence(f, info)
	if tcpFlags(f, &b.layers[i], info)&(packet.TCPFIN|packet.TCPRST) != 0 {
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
	b.cause[j] = causeOf(set, flow.Watch, set.Has(event.Congestion) && w.detector.Edge)
	if set&event.Triggered != 0 {
		b.trigger[j] = w.detector.Trigger
	}
	return set != 0
}

// tcpFlags are the flags of the original packet's TCP header, which stands
// behind INT with NPT 2; 0 for anything else.
func tcpFlags(f []byte, l *packet.Layers, info *inthdr.Info) uint8 {
	if info.NPT != 2 {
		return l.TCPFlags
	}
	if at := int(info.End) + 13; info.Orig == packet.ProtoTCP && at < int(l.End) && at < len(f) {
		return f[at]
	}
	return 0
}

// malformedContents returns event malformed for a packet with INT that can be removed but has
// senseless contents: at most one per port and second. Where the flow's watch does not have the
// event, it does not use up that second.
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
