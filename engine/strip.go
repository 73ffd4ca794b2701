// Stage strip: takes INT out of packets that still have it, discards those with the D flag; bursts
// of a worker without watches, whose packets have no flow.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// strip takes INT out of every sound INT packet that still has it, or discards the
// packet where its source asked for that.
func (w *Worker) strip(p *linkState, b *burst) {
	f := w.fast
	if !f.Strips() { // C left INT in passed packets: strip them now
		b.keepLeft()
	}
	which := b.keeps
	for left := b.keeps &^ f.Samples; left != 0; left &= left - 1 { // samples were passed in C: they have a template and no D flag
		j := uint8(bits.TrailingZeros64(left))
		switch at := f.Template[j]; {
		case at == fast.None:
			which &^= 1 << j
			w.stripParsed(p, b, j)
		case f.Info(at).Discard:
			which &^= 1 << j
			b.dropPacket(int(f.At[j]), DropDiscard, &p.counters.Direction[ToHost])
		}
	}
	f.Strip(which)
}

// stripParsed is strip for packet j, which has no template.
//
//go:noinline
func (w *Worker) stripParsed(p *linkState, b *burst, j uint8) {
	i := int(w.fast.At[j])
	info := &b.info[i]
	if info.Discard {
		b.dropPacket(i, DropDiscard, &p.counters.Direction[ToHost])
		return
	}
	if info.Edit.Has(inthdr.DropCongested) {
		w.congested(p, b, int(j))
		return
	}
	f := b.vec[i].Bytes()
	b.vec[i].Adj(strip.Strip(f, &b.layers[i], info, &b.outers[i]))
	if w.locator.Encloses(f, &b.layers[i], info) {
		w.stripInside(p, b, j)
	}
}

// stripUnwatched is all that becomes of INT packets where there is no watch: no flow is
// kept, and INT goes.
func (w *Worker) stripUnwatched(p *linkState, b *burst) {
	f := w.fast
	n, others := f.Len(), 0
	for j, i := range f.At[:n] {
		info := &b.info[i&(mbuf.MaxBurst-1)]
		if at := f.Template[j&(mbuf.MaxBurst-1)]; at != fast.None {
			info = f.Info(at)
		}
		p.counters.countFlags(info)
		if info.Type != inthdr.MD || info.Reason != inthdr.ReasonNone {
			p.counters.INT[info.Type&3]++
			p.counters.Malformed[info.Reason]++
			others++
		}
	}
	p.counters.INT[inthdr.MD] += uint64(n - others)
	p.counters.Malformed[0] = 0 // no reason
	b.keeps = 1<<n - 1
	if p.link.Host != nil {
		w.strip(p, b)
	}
}

// stripInside takes INT also out of the packet inside of packet j, which is a tunnel. INT of both
// layers belongs to one packet: it is counted and reported once, by the outermost. A packet with
// unsound INT inside is passed or dropped like any other.
//
//go:noinline
func (w *Worker) stripInside(p *linkState, b *burst, j uint8) {
	i := int(w.fast.At[j])
	m, l, info, o := b.vec[i], &b.layers[i], &b.info[i], &b.outers[i]
	gone := info.Marking == inthdr.ByGRE && info.Inserted // the tunnel itself
	for depth := range inthdr.MaxDepth + 1 {
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
		switch {
		case r == inthdr.NotINT:
			return
		case depth == inthdr.MaxDepth:
			info.Reason = inthdr.ReasonTooDeep
			w.unsound(p, b, i)
			return
		case r == inthdr.NeedMore:
			info.Reason = inthdr.ReasonSegmented
			w.unsound(p, b, i)
			return
		case r == inthdr.Unsound:
			w.unsound(p, b, i)
			return
		}
		if info.Discard {
			b.dropPacket(i, DropDiscard, &p.counters.Direction[ToHost])
			return
		}
		if info.Edit.Has(inthdr.DropCongested) { // a second tunnel
			w.congested(p, b, int(j))
			return
		}
		m.Adj(strip.Strip(f, l, info, o))
		if !w.locator.Encloses(f, l, info) {
			return
		}
	}
}
