package engine

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// parse is the first pass: where every packet's headers are, and which packets
// carry INT. What is marked as INT but unsound is settled here.
func (w *Worker) parse(p *path, b *burst) {
	b.nINT = 0
	for i := range b.n {
		m := b.vec[i]
		f := m.Bytes()
		b.frame[i] = f
		b.verdict[i] = forward
		switch w.locator.Recall(f, m.PktLen(), &b.info[i]) {
		case inthdr.Same:
			b.int[b.nINT] = uint8(i)
			b.nINT++
		case inthdr.Ask:
			w.parseOne(p, b, i, false)
		}
	}
}

// parseOne takes the long way with one packet. joined: its segments were, as far
// as that is possible.
//
//go:noinline
func (w *Worker) parseOne(p *path, b *burst, i int, joined bool) {
	f, l, info := b.frame[i], &b.layers[i], &b.info[i]
	status := packet.Parse(f, b.vec[i].PktLen(), l)
	result := inthdr.NotINT
	switch status {
	case packet.OK:
		result = w.locator.Find(f, l, info, &b.outers[i])
	case packet.NeedMore:
		result = inthdr.NeedMore
	}
	switch result {
	case inthdr.Sound:
		info.Size = l.End - info.Removed
		b.int[b.nINT] = uint8(i)
		b.nINT++
	case inthdr.Unsound:
		w.unsound(p, b, i)
	case inthdr.NotINT:
		if s := p.link.NetworkStation; s != nil && isNeighborly(status, l) {
			s.Hear(f, b.now)
		}
	case inthdr.NeedMore:
		switch {
		case !joined:
			w.parseChain(p, b, i)
		case status == packet.OK:
			info.Reason = inthdr.ReasonSegmented
			w.unsound(p, b, i)
		}
	}
}

// pullupLen is how much of a chained packet is made contiguous when its
// headers do not all stand in the first segment: the longest headers the
// parser reads and the longest INT that a shim can claim.
const pullupLen = 1536

// parseChain handles a packet whose headers go on in a later segment.
//
//go:noinline
func (w *Worker) parseChain(p *path, b *burst, i int) {
	m, info := b.vec[i], &b.info[i]
	pktLen := m.PktLen()
	if !m.Pullup(min(pullupLen, pktLen)) {
		info.Reason = inthdr.ReasonSegmented
		w.unsound(p, b, i)
		return
	}
	b.frame[i] = m.Bytes()
	w.parseOne(p, b, i, true)
}

// unsound counts a packet that is marked as INT but cannot be taken as INT;
// it passes untouched or is dropped, as the configuration says.
//
//go:noinline
func (w *Worker) unsound(p *path, b *burst, i int) {
	p.counters.Malformed[b.info[i].Reason]++
	set, drops := w.noticed(p, event.Malformed, b.now), uint32(0)
	if w.rules.DropMalformed {
		b.dropPacket(i, DropMalformed, &p.counters.Direction[ToHost])
		var d event.Set
		d, drops = w.dropped(p, ToHost, DropMalformed, b.now)
		set |= d
	}
	if set != 0 {
		w.reportFrame(p, ToHost, b, set, b.frame[i], DropMalformed, drops)
	}
}

// isNeighborly tells whether a frame may be ARP or Neighbor Discovery, from what
// packet.Parse has found: no IP, or ICMPv6. It is asked only on ports by which
// reports leave, and only of frames that Recall did not settle.
func isNeighborly(s packet.Status, l *packet.Layers) bool {
	return s == packet.NotIP || s == packet.OK && l.Proto == protoICMPv6
}

const protoICMPv6 = 58
