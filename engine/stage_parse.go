package engine

import (
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
		l, info := &b.layers[i], &b.info[i]
		pktLen := m.PktLen()
		if w.locator.Recall(f, pktLen, l, info) {
			b.int[b.nINT] = uint8(i)
			b.nINT++
			b.verdict[i] = stripped
			continue
		}
		status := packet.Parse(f, pktLen, l)
		if status == packet.OK {
			switch w.locator.Locate(f, pktLen, l, info) {
			case inthdr.Sound:
				b.int[b.nINT] = uint8(i)
				b.nINT++
				b.verdict[i] = stripped
			case inthdr.Unsound:
				w.unsound(p, b, i)
			case inthdr.NeedMore:
				w.parseChain(p, b, i)
			}
		} else if status == packet.NeedMore {
			w.parseChain(p, b, i)
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
	m, l, info := b.vec[i], &b.layers[i], &b.info[i]
	pktLen := m.PktLen()
	if !m.Pullup(min(pullupLen, pktLen)) {
		info.Reason = inthdr.ReasonSegmented
		w.unsound(p, b, i)
		return
	}
	f := m.Bytes()
	b.frame[i] = f
	if packet.Parse(f, pktLen, l) != packet.OK {
		return
	}
	switch w.locator.Locate(f, pktLen, l, info) {
	case inthdr.Sound:
		b.int[b.nINT] = uint8(i)
		b.nINT++
		b.verdict[i] = stripped
	case inthdr.Unsound:
		w.unsound(p, b, i)
	case inthdr.NeedMore:
		info.Reason = inthdr.ReasonSegmented
		w.unsound(p, b, i)
	}
}

// unsound counts a packet that is marked as INT but cannot be taken as INT;
// it passes untouched or is dropped, as the configuration says.
//
//go:noinline
func (w *Worker) unsound(p *path, b *burst, i int) {
	p.counters.Malformed[b.info[i].Reason]++
	if w.rules.DropMalformed {
		b.dropPacket(i, DropMalformed, &p.counters.Direction[ToHost])
	}
}
