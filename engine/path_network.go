package engine

import (
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// pollToNetwork passes a burst from the host side untouched. INT has no
// business there: it is counted as a leak.
func (w *Worker) pollToNetwork(p *path) int {
	b := w.burst
	if b.n = p.link.Host.RxBurst(b.vec); b.n == 0 {
		return 0
	}
	l, info := &b.layers[0], &b.info[0]
	station, now := p.link.HostStation, int64(0)
	if station != nil {
		now = w.clock()
	}
	for i := range b.n {
		m := b.vec[i]
		f, pktLen := m.Bytes(), m.PktLen()
		status := packet.Parse(f, pktLen, l)
		if status == packet.OK && w.locator.Locate(f, l, info) == inthdr.Sound {
			p.counters.Leaked++
		}
		if station != nil && isNeighborly(status, l) {
			station.Hear(f, now)
		}
	}
	d := &p.counters.Direction[ToNetwork]
	d.Received += uint64(b.n)
	w.transmit(p.link.Network, d, b)
	return b.n
}
