package engine

import (
	"intsink/engine/inthdr"
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
			continue
		}
		m.Adj(strip.Strip(b.frame[i], &b.layers[i], info, &b.outers[i]))
		if w.locator.Encloses(b.frame[i], &b.layers[i], info) {
			w.stripInside(p, b, int(i))
		}
	}
}

// unwatched is all that becomes of INT packets where there is no watch: no flow is
// kept, and INT goes.
func (w *Worker) unwatched(p *path, b *burst) {
	b.nRest = 0
	for _, i := range b.int[:b.nINT] {
		info := &b.info[i]
		p.counters.INT[info.Type&3]++
		p.counters.Malformed[info.Reason]++
		b.leave(i)
	}
	p.counters.Malformed[0] = 0 // no reason
	if p.link.Host != nil {
		w.strip(p, b)
	}
	b.nINT = 0 // no packet has a flow
}

// stripInside takes INT out of what is inside of the tunnel that packet i is, too.
// INT of both layers is of the same packet: it is counted and reported once, by the
// outermost. What is unsound inside passes or is dropped as any other packet is.
//
//go:noinline
func (w *Worker) stripInside(p *path, b *burst, i int) {
	m, l, info, o := b.vec[i], &b.layers[i], &b.info[i], &b.outers[i]
	gone := info.Marking == inthdr.ByGRE && info.Inserted // the tunnel itself
	for range inthdr.MaxDepth {
		m.Pullup(min(pullupLen, m.PktLen()))
		f := m.Bytes()
		b.frame[i] = f
		if packet.Parse(f, m.PktLen(), l) != packet.OK {
			return
		}
		r := inthdr.NotINT
		if gone {
			*info = inthdr.Info{}
			r = w.locator.Find(f, l, info, o)
		} else {
			r = w.locator.LocateInside(f, l, info, o)
		}
		switch r {
		case inthdr.NotINT:
			return
		case inthdr.NeedMore:
			info.Reason = inthdr.ReasonSegmented
			w.unsound(p, b, i)
			return
		case inthdr.Unsound:
			w.unsound(p, b, i)
			return
		}
		if info.Discard {
			b.dropPacket(i, DropDiscard, &p.counters.Direction[ToHost])
			return
		}
		m.Adj(strip.Strip(f, l, info, o))
		if !w.locator.Encloses(f, l, info) {
			return
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
