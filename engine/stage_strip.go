package engine

import (
	"intsink/engine/packet"
	"intsink/engine/report"
	"intsink/engine/strip"
)

// strip takes INT out of every sound INT packet that still has it, or discards the
// packet where its source asked for that.
func (w *Worker) strip(p *path, b *burst) {
	for _, i := range b.rest[:b.nRest] {
		info := &b.info[i]
		m := b.vec[i]
		if info.Discard {
			b.dropPacket(int(i), DropDiscard, &p.counters.Direction[ToHost])
			continue
		}
		if info.Plain {
			m.Adj(strip.Plain(b.frame[i], info))
		} else {
			m.Adj(strip.Strip(b.frame[i], &b.layers[i], info, &b.outers[i]))
		}
	}
}

// fillInner makes the first bytes of the packet, INT included, the inner
// contents of r, from l on: the outermost layers. Trailing Ethernet padding is not
// part of the packet.
func (w *Worker) fillInner(r *report.Individual, f []byte, l *packet.Layers) {
	rules := &w.rules.Report
	from := int(l.L3)
	r.InType = report.IPv4
	if l.IPVersion == 6 {
		r.InType = report.IPv6
	}
	if rules.Ethernet {
		from, r.InType = 0, report.Ethernet
	}
	to := min(from+rules.Fragment, int(l.End), len(f))
	if rules.Fragment == 0 {
		r.InType, r.Inner = report.None, nil
		return
	}
	r.Inner = f[from:to]
}
