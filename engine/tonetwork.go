// The other direction: bursts from the host pass untouched; parses their packets for INT that
// leaks, and counts those.

package engine

import (
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// toNetwork passes a burst from the host side untouched. INT has no business there:
// it is counted as a leak.
func (w *Worker) toNetwork(p *linkState, b *burst) {
	if w.passing {
		w.hearNeighbors(p.link.HostStation, b)
	} else {
		w.leaks(p, b)
	}
	p.counters.Direction[ToNetwork].Received += uint64(b.n)
	w.countSent(p, ToNetwork, p.link.Network, b, b.vec, b.n, p.link.Network.TxBurst(b.vec, b.n))
}

// leaks looks for INT in a burst from the host side, and for answers to who sends reports.
func (w *Worker) leaks(p *linkState, b *burst) {
	l, info := &b.layers[0], &b.info[0]
	station := p.link.HostStation
	for i := range b.n {
		m := b.vec[i]
		f, pktLen := m.Bytes(), m.PktLen()
		if at := w.fast.Recognise(f, pktLen); at != fast.None && !w.fast.IsINT(at) {
			continue
		}
		status := packet.Parse(f, pktLen, l)
		result := inthdr.NotINT
		if status == packet.OK {
			result = w.locator.Find(f, l, info, &b.outers[0])
		}
		if result == inthdr.Sound {
			p.counters.Leaked++
			if x := w.captured(p); x != nil {
				x.leaked(i)
			}
			if set := w.noFlowEvent(p, event.Leak, b.now); set != 0 {
				w.reportFrame(p, ToNetwork, b, set, m, 0, 0)
			}
		}
		if status == packet.OK && result == inthdr.NotINT && w.fast.MayStore() {
			w.fast.StoreNotINT(f, l)
		}
		if station != nil && maybeNeighbor(status, l) {
			station.Hear(f, b.now)
		}
	}
}
