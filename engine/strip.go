package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/strip"
)

// strip takes INT out of every sound INT packet that still has it, or discards the
// packet where its source asked for that.
func (w *Worker) strip(p *linkState, b *burst) {
	filled := false
	for r := 0; ; r++ {
		if r = stripUDPv4(b, r); r >= min(b.nDeferred, mbuf.MaxBurst) {
			return
		}
		j := b.deferred[r] & (mbuf.MaxBurst - 1)
		i, info := b.places[j], b.header[j]
		if info.Discard {
			b.dropPacket(int(i), DropDiscard, &p.counters.Direction[ToHost])
			continue
		}
		if info.Edit.Has(inthdr.DropCongested) {
			w.congested(p, b, int(j))
			continue
		}
		f := b.vec[i].Bytes()
		b.vec[i].Adj(strip.Strip(f, &b.layers[i], info, &b.outers[i]))
		if w.locator.Encloses(f, &b.layers[i], info) {
			if !filled {
				b.completeDeferred(r + 1) // what is known of them may be overwritten
				filled = true
			}
			w.stripInside(p, b, int(i))
		}
	}
}

// stripUDPv4Go takes INT out of the packets b.rest[from:b.nRest] as long as they are UDPv4
// and not to be discarded, and returns the place of the first that is not.
//
// stripUDPv4 is the same, written in assembly where there is such.
func stripUDPv4Go(b *burst, from int) (next int) {
	for r := from; r < min(b.nDeferred, mbuf.MaxBurst); r++ {
		j := b.deferred[r] & (mbuf.MaxBurst - 1)
		i, info := b.places[j], b.header[j]
		if !info.UDPv4 || info.Discard {
			return r
		}
		b.vec[i].Adj(strip.UDPv4(b.vec[i].Bytes(), info))
	}
	return b.nDeferred
}

// stripUnwatched is all that becomes of INT packets where there is no watch: no flow is
// kept, and INT goes.
func (w *Worker) stripUnwatched(p *linkState, b *burst) {
	b.nDeferred = 0
	for j := range b.nINT {
		info := b.header[j]
		p.counters.INT[info.Type&3]++
		p.counters.Malformed[info.Reason]++
		b.deferStrip(j)
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
func (w *Worker) stripInside(p *linkState, b *burst, i int) {
	m, l, info, o := b.vec[i], &b.layers[i], &b.info[i], &b.outers[i]
	gone := info.Marking == inthdr.ByGRE && info.Inserted // the tunnel itself
	for range inthdr.MaxDepth {
		m.Pullup(min(pullupLen, m.PktLen()))
		f := m.Bytes()
		switch packet.Parse(f, m.PktLen(), l) {
		case packet.OK:
		case packet.TooDeep:
			info.Reason = inthdr.ReasonTooDeep
			w.unsound(p, b, i)
			return
		default:
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
		if info.Edit.Has(inthdr.DropCongested) { // a second tunnel
			b.dropPacket(i, DropCongested, &p.counters.Direction[ToHost])
			return
		}
		m.Adj(strip.Strip(f, l, info, o))
		if !w.locator.Encloses(f, l, info) {
			return
		}
	}
}
