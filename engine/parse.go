package engine

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// parse is the first pass: where every packet's headers are, and which packets
// carry INT. What is marked as INT but unsound is settled here.
func (w *Worker) parse(p *linkState, b *burst) {
	b.nINT, b.unkeyed, b.completed = 0, 0, 0
	clear(b.verdict[:])
	for i := 0; ; i++ {
		if i = matchHeaders(&w.match, b, i); i >= b.n {
			return
		}
		w.parseOne(p, b, i)
	}
}

// parseOne takes the long way with one packet. One whose first segment may end
// within its headers is joined before: nothing that comes after looks further.
//
//go:noinline
func (w *Worker) parseOne(p *linkState, b *burst, i int) {
	m, l, info := b.vec[i], &b.layers[i], &b.info[i]
	pktLen := m.PktLen()
	m.Pullup(min(pullupLen, pktLen)) // where that is impossible, NeedMore tells
	f := m.Bytes()
	if w.locator.Match(f, pktLen, l, info) {
		b.sound(i, f)
		return
	}
	b.completeAll() // what is known of them may be overwritten now
	status := packet.Parse(f, pktLen, l)
	result := inthdr.NotINT
	switch status {
	case packet.OK:
		result = w.locator.Find(f, l, info, &b.outers[i])
	case packet.NeedMore:
		result = inthdr.NeedMore
	case packet.Truncated:
		if w.truncatedINT(b, i) {
			info.Reason = inthdr.ReasonTruncated
			result = inthdr.Unsound
		}
	}
	if status == packet.TooDeep {
		info.Reason, result = inthdr.ReasonTooDeep, inthdr.Unsound
	}
	switch result {
	case inthdr.Sound:
		w.locator.Store(f, l, info)
		w.locator.Classify(info)
		b.sound(i, f)
	case inthdr.Unsound:
		w.unsound(p, b, i)
	case inthdr.NotINT:
		if s := p.link.NetworkStation; s != nil && maybeNeighbor(status, l) {
			s.Hear(f, b.now)
		}
	case inthdr.NeedMore:
		if status == packet.OK || len(f) < min(pullupLen, pktLen) {
			info.Reason = inthdr.ReasonSegmented
			w.unsound(p, b, i)
		}
	}
}

// sound takes packet i among those with INT, its key to be made. What may end a
// connection is not usual.
func (b *burst) sound(i int, f []byte) {
	info, l := &b.info[i], &b.layers[i]
	info.Size = l.End - info.Removed
	info.Common = info.Common && tcpFlags(f, l, info)&(tcpFIN|tcpRST) == 0
	b.unkeyed |= 1 << b.nINT
	b.completed |= 1 << b.nINT
	b.header[b.nINT] = info
	b.places[b.nINT] = uint8(i)
	b.nINT++
}

// pullupLen is how much of a chained packet is made contiguous when its first
// segment is shorter: the longest headers that the parser reads and the longest INT
// that a shim can claim.
const pullupLen = 1536

// unsound counts a packet that is marked as INT but cannot be taken as INT;
// it passes untouched or is dropped, as the configuration says.
//
//go:noinline
func (w *Worker) unsound(p *linkState, b *burst, i int) {
	p.counters.Malformed[b.info[i].Reason]++
	set, drops := w.noFlowEvent(p, event.Malformed, b.now), uint32(0)
	if w.rules.DropMalformed {
		b.dropPacket(i, DropMalformed, &p.counters.Direction[ToHost])
		var d event.Set
		d, drops = w.noFlowDrop(p, ToHost, DropMalformed, b.now)
		set |= d
	}
	if set != 0 {
		w.reportFrame(p, ToHost, b, set, b.vec[i], DropMalformed, drops)
	}
}

// maybeNeighbor tells whether a frame may be ARP or Neighbor Discovery, from what
// packet.Parse has found: no IP, or ICMPv6. It is asked only on ports by which
// reports leave, and only of frames that Match did not settle.
func maybeNeighbor(s packet.Status, l *packet.Layers) bool {
	return s == packet.NotIP || s == packet.OK && l.Proto == packet.ProtoICMPv6
}
