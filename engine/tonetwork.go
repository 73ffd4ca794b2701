// The other direction: bursts from the host; INT that hosts send, and the mark of INT on packets
// that have none, are counted, taken off or dropped.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/strip"
)

// LeakPolicy says what becomes of INT from the host side.
type LeakPolicy uint8

const (
	ForwardLeaks LeakPolicy = iota // packets pass as they are
	StripLeaks                     // they lose their INT
	DropLeaks
)

// MarkPolicy says what becomes of packets from the host side that have no INT but bear its mark: the next node
// would read their payload as INT (INT 2.1, section 5.7.2).
type MarkPolicy uint8

const (
	ClearMarks MarkPolicy = iota // a DSCP loses the mark; other marks are the packet's own and stay
	DropMarks
	ForwardMarks
)

// MarkAction is what became of a packet from the host side that bore the mark of INT without INT.
type MarkAction uint8

const (
	MarkCleared MarkAction = iota
	MarkDropped
	MarkForwarded
	NumMarkActions
)

// String is the value of the action label.
func (a MarkAction) String() string {
	return [NumMarkActions]string{"cleared", "dropped", "forwarded"}[a]
}

// toNetwork passes a burst from the host side. INT has no business there: it is counted as a leak.
func (w *Worker) toNetwork(p *linkState, b *burst) {
	clear(b.verdict[:])
	if w.passing {
		w.hearNeighbors(p.link.HostStation, b)
	} else {
		w.leaks(p, b)
	}
	p.counters.Direction[ToNetwork].Received += uint64(b.n)
	v, n := w.toTransmit(b)
	w.countSent(p, ToNetwork, p.link.Network, b, v, n, p.link.Network.TxBurst(v, n))
}

// leaks looks for INT, and for its mark, in a burst from the host side, and for answers to who sends reports.
func (w *Worker) leaks(p *linkState, b *burst) {
	for i := range b.n {
		m := b.vec[i]
		if at := w.fast.Recognise(m.Bytes(), m.PktLen()); at == fast.None || w.fast.IsINT(at) {
			w.fromHost(p, b, i)
		}
	}
}

// fromHost is leaks for packet i, which has no template of packets without INT. Such packets bear no mark.
func (w *Worker) fromHost(p *linkState, b *burst, i int) {
	m, l := b.vec[i], &b.layers[0]
	m.Pullup(min(pullupLen, m.PktLen()))
	status, result := w.findLeak(m, b)
	if result == inthdr.Sound {
		status, result = w.leak(p, b, i)
	}
	if b.verdict[i] == consumed || result == inthdr.Sound {
		return
	}
	marked := result != inthdr.NotINT && b.info[0].Reason != inthdr.ReasonTooDeep
	if status == packet.OK && result == inthdr.NotINT && w.fast.MayStore() {
		w.fast.StoreNotINT(m.Bytes(), l)
	}
	if s := p.link.HostStation; s != nil && maybeNeighbor(status, l) {
		s.Hear(m.Bytes(), b.now)
	}
	if marked || w.locator.BearsDSCP(m.Bytes(), l, status) {
		w.unmark(p, b, i)
	}
}

// findLeak looks for INT in m. What it finds is in the first places of b.layers, b.info and b.outers.
func (w *Worker) findLeak(m *mbuf.Mbuf, b *burst) (packet.Status, inthdr.Result) {
	l, info := &b.layers[0], &b.info[0]
	info.Depth, info.Reason = 0, inthdr.ReasonNone
	f := m.Bytes()
	status := packet.Parse(f, m.PktLen(), l)
	if status != packet.OK {
		return status, inthdr.NotINT
	}
	return status, w.locator.Find(f, l, info, &b.outers[0])
}

// leak settles packet i of the burst, which has INT: findLeak has found it. What it returns is of the packet as
// it leaves.
//
//go:noinline
func (w *Worker) leak(p *linkState, b *burst, i int) (packet.Status, inthdr.Result) {
	p.counters.Leaked++
	if x := w.captured(p); x != nil {
		x.leaked(i)
	}
	set, d := w.noFlowEvent(p, ToNetwork, event.Leak, b.now), noFlowDrop{}
	if w.reading.Leak == DropLeaks {
		d = w.dropFromHost(p, b, i, DropLeak)
	}
	w.reportFrame(p, ToNetwork, b, set, b.vec[i], d)
	if w.reading.Leak == StripLeaks {
		return w.stripLeak(p, b, i)
	}
	return packet.OK, inthdr.Sound
}

// stripLeak takes INT out of packet i, of each layer that has it, as for a host.
func (w *Worker) stripLeak(p *linkState, b *burst, i int) (status packet.Status, result inthdr.Result) {
	m, l, info := b.vec[i], &b.layers[0], &b.info[0]
	w.beforeChange(p, b, i)
	for depth := 0; depth <= inthdr.MaxDepth; depth++ {
		if why, drop := undeliverable(info); drop {
			w.reportFrame(p, ToNetwork, b, 0, m, w.dropFromHost(p, b, i, why))
			break
		}
		m.Adj(strip.Strip(m.Bytes(), l, info, &b.outers[0]))
		m.Pullup(min(pullupLen, m.PktLen()))
		if status, result = w.findLeak(m, b); result != inthdr.Sound {
			break
		}
	}
	return status, result
}

// undeliverable tells whether a packet is dropped when its INT is taken out, and why.
func undeliverable(i *inthdr.Info) (why DropReason, drop bool) {
	if i.Discard {
		return DropDiscard, true
	}
	return DropCongested, i.Edit.Has(inthdr.DropCongested)
}

// unmark settles a packet from the host that has no sound INT and bears the mark of INT.
//
//go:noinline
func (w *Worker) unmark(p *linkState, b *burst, i int) {
	action := MarkForwarded
	switch w.reading.LeakMark {
	case DropMarks:
		action = MarkDropped
		w.reportFrame(p, ToNetwork, b, 0, b.vec[i], w.dropFromHost(p, b, i, DropMark))
	case ClearMarks:
		w.beforeChange(p, b, i)
		if w.clearMarks(b, b.vec[i]) {
			action = MarkCleared
		}
	}
	p.counters.Marked[action]++
}

// clearMarks takes the mark off the DSCP of each layer of m that bears it and has no INT, and tells whether
// there was one.
func (w *Worker) clearMarks(b *burst, m *mbuf.Mbuf) (cleared bool) {
	f := m.Bytes()
	l, info, o := &b.layers[0], &b.info[0], &b.outers[0]
	for range inthdr.MaxDepth + 2 {
		status, result := w.findLeak(m, b)
		switch {
		case result == inthdr.Unsound && info.Marking == inthdr.ByDSCP && info.Reason != inthdr.ReasonTooDeep && w.locator.BearsDSCP(f, l, status):
			strip.PutDSCP(f, l, w.locator.Unmarked(l.DSCP), o[:info.Depth])
		case packet.Parse(f, m.PktLen(), l) == status && w.locator.BearsDSCP(f, l, status):
			strip.PutDSCP(f, l, w.locator.Unmarked(l.DSCP), nil)
		default:
			return cleared
		}
		cleared = true
	}
	return cleared
}

// dropFromHost drops packet i of the burst, and returns what is to be reported of it.
func (w *Worker) dropFromHost(p *linkState, b *burst, i int, why DropReason) noFlowDrop {
	if x := w.captured(p); x != nil {
		x.fromHost(w, p, b, i, true, why)
	}
	b.dropPacket(i, why, &p.counters.Direction[ToNetwork])
	return w.dropped(p, ToNetwork, b.vec[i], why, b.now)
}

// beforeChange shows packet i of the burst from the host to the capture that runs.
func (w *Worker) beforeChange(p *linkState, b *burst, i int) {
	if x := w.captured(p); x != nil {
		x.fromHost(w, p, b, i, false, 0)
	}
}
