// Pick: copies the packets of a burst that the capture wants, as they came and as they leave, and notes verdict and events.

package capture

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/flows"
)

// burstAtHand is what is known of a burst, by place.
type burstAtHand struct {
	due       bool   // it is the capture's, until it leaves
	used      bool   // something was noted
	later     uint64 // bit: the packet is wanted if it is dropped for one of the reasons
	picked    uint64 // bit: it is wanted
	in, out   [mbuf.MaxBurst]Slot
	events    [mbuf.MaxBurst]event.Set
	malformed [mbuf.MaxBurst]inthdr.Reason
	number    [mbuf.MaxBurst]uint8 // of those with INT, from 1 on; 0: it has none
}

// Arrived copies the wanted packets of a burst as they came. Some have been dropped already.
func (a *Aside) Arrived(b *burst.Burst) {
	ask := ^uint64(0) >> (mbuf.MaxBurst - b.N)
	if b.Direction == burst.ToHost {
		ask &^= a.noteINT(b)
	}
	a.of.used = true
	a.noteLeft(b)
	if a.byMark && b.Fast.Len() == b.N && !a.c.Filter.AsksFurther() && b.Direction == burst.ToHost {
		ask = a.chooseMarked(b, ask)
	}
	for ; ask != 0; ask &= ask - 1 {
		a.choose(b, bits.TrailingZeros64(ask)&(mbuf.MaxBurst-1))
	}
	if picked := a.of.picked; picked != 0 && a.c.Filter.Stages&In != 0 {
		a.take(b, picked, In, &a.of.in)
	}
}

// noteINT notes the events and senseless contents of packets with INT, and returns those that have none any more: they are of
// flows that are not marked.
func (a *Aside) noteINT(b *burst.Burst) (gone uint64) {
	f := b.Fast
	left, odd := b.WithINT()
	for j, i := range f.At[:f.Len()] {
		a.of.number[i&(mbuf.MaxBurst-1)] = uint8(j + 1)
		gone |= (^left >> j & 1) << i
	}
	for ; odd != 0; odd &= odd - 1 {
		j := bits.TrailingZeros64(odd) & (mbuf.MaxBurst - 1)
		a.of.malformed[f.At[j]&(mbuf.MaxBurst-1)] = b.Header(uint8(j)).Reason
	}
	for told := b.Reportable & left; told != 0; told &= told - 1 {
		j := bits.TrailingZeros64(told) & (mbuf.MaxBurst - 1)
		a.of.events[f.At[j]&(mbuf.MaxBurst-1)] |= b.Cause[j].Set()
	}
	return gone
}

// noteLeft notes the events of packets that belong to no flow.
func (a *Aside) noteLeft(b *burst.Burst) {
	for _, l := range b.AllLeft() {
		if l.Event == burst.NoEvent {
			continue
		}
		a.of.events[l.I] |= l.Event.Set()
		if l.Event == event.Malformed {
			a.of.malformed[l.I] = b.Info[l.I].Reason
		}
	}
}

// verdict is what has become of packet i of the burst so far.
func verdict(b *burst.Burst, i int) (dropped bool, reason burst.DropReason) {
	switch {
	case b.Verdict[i] == burst.Consumed:
		return true, b.Why[i]
	case b.Link.Host == nil:
		return true, burst.DropTap
	}
	return false, 0
}

// chooseMarked is choose for packets of flows in front of the first one that has none, where all have INT and what is marked is selected.
// It returns the others.
func (a *Aside) chooseMarked(b *burst.Burst, ask uint64) (rest uint64) {
	for ; ask != 0; ask &= ask - 1 {
		i := bits.TrailingZeros64(ask) & (mbuf.MaxBurst - 1)
		f := b.Fast.Flows[i] // packet i is the INT packet of that number
		if f == nil {
			break
		}
		if f.Suspect() && a.c.Allow(b.Now) {
			a.of.picked |= 1 << i
		}
	}
	return ask
}

// choose says whether packet i of the burst is wanted, now or if it is dropped later.
func (a *Aside) choose(b *burst.Burst, i int) {
	f := &a.c.Filter
	if f.AsksFurther() {
		if f.AsksFlow() && !a.isOf(a.watchOf(b, i)) || !f.FitsEvents(a.of.events[i]) {
			return
		}
		if dropped, reason := verdict(b, i); !f.FitsReason(dropped, uint8(reason), a.of.malformed[i]) {
			if f.Match == nil || a.matches(b, i) {
				a.of.later |= 1 << i
			}
			return
		}
	}
	if (f.Match == nil || a.matches(b, i)) && a.c.Allow(b.Now) {
		a.of.picked |= 1 << i
	}
}

// flowOf is the flow of packet i of the burst; nil: it has none that watches know.
func (a *Aside) flowOf(b *burst.Burst, i int) *flows.Flow {
	n := a.of.number[i]
	if n == 0 || !b.Watched {
		return nil
	}
	return b.Fast.Flows[(n-1)&(mbuf.MaxBurst-1)]
}

// watchOf is the watch of packet i of the burst.
func (a *Aside) watchOf(b *burst.Burst, i int) uint8 {
	if f := a.flowOf(b, i); f != nil && f.Generation == b.Generation {
		return f.Watch
	}
	return watch.None
}

// isOf tells whether the filter names a watch.
func (a *Aside) isOf(w uint8) bool { return w != watch.None && a.watches[w] }

// matches tells whether the filter selects packet i.
func (a *Aside) matches(b *burst.Burst, i int) bool {
	m := b.Vec[i]
	n := int(a.of.number[i])
	if n == 0 {
		return a.reader.Of(a.c.Filter.Match, m, b) != selector.None
	}
	if f := a.flowOf(b, i); a.byMark && f != nil {
		return f.Suspect()
	}
	return a.reader.OfINT(a.c.Filter.Match, m, b, n-1) != selector.None
}

// headOf is what records of the burst at one stage have in common.
func (a *Aside) headOf(b *burst.Burst, at Stages) head {
	r := Record{Time: b.Now + a.detector.Wall, Link: b.Link.Index, ToNetwork: b.Direction == burst.ToNetwork, Out: at == Out}
	r.Host = r.Out != r.ToNetwork
	return r.head()
}

// take copies packets of the burst into slots, as they came or as they leave.
func (a *Aside) take(b *burst.Burst, which uint64, at Stages, slots *[mbuf.MaxBurst]Slot) {
	h := a.headOf(b, at)
	usual := h.where
	for ; which != 0; which &= which - 1 {
		i := bits.TrailingZeros64(which) & (mbuf.MaxBurst - 1)
		h.where = usual
		if dropped, reason := verdict(b, i); dropped { // before it arrived here: what leaves was not
			h.where |= (&Record{Dropped: true, Reason: uint8(reason)}).head().where
		}
		slots[i] = a.takeOne(&h, b, i, b.Vec[i])
	}
}

// takeOne copies m, which is packet i of the burst, with what h says of it and what is known.
func (a *Aside) takeOne(h *head, b *burst.Burst, i int, m *mbuf.Mbuf) Slot {
	h.events, h.malformed, h.watch = a.of.events[i], a.of.malformed[i], ""
	if k := a.watchOf(b, i); k != watch.None {
		h.watch = a.names[k]
	}
	return a.c.take(h, m)
}

// takeDropped copies m, which is packet i of the burst and was dropped for a reason that the filter asks for, if the capture wants
// packets of this stage.
func (a *Aside) takeDropped(b *burst.Burst, i int, m *mbuf.Mbuf, at Stages, reason uint8) Slot {
	if a.c.Filter.Stages&at == 0 {
		return Slot{}
	}
	h := a.headOf(b, at)
	h.where |= (&Record{Dropped: true, Reason: reason}).head().where
	return a.takeOne(&h, b, i, m)
}

// Leaving finds the packets that were dropped since they arrived, copies those with a wanted drop
// reason as they are, and all that leave.
func (a *Aside) Leaving(b *burst.Burst) {
	a.of.due = false
	a.noteLeft(b)
	if b.NDrop > 0 {
		a.noteDropped(b)
	}
	picked := a.of.picked
	if b.Link.Host == nil || picked == 0 || a.c.Filter.Stages&Out == 0 {
		return
	}
	if b.NDrop > 0 {
		for i := range b.N {
			if b.Verdict[i] == burst.Consumed {
				picked &^= 1 << i
			}
		}
	}
	a.take(b, picked, Out, &a.of.out)
}

// noteDropped notes what was dropped.
func (a *Aside) noteDropped(b *burst.Burst) {
	for i := range b.N {
		if b.Verdict[i] != burst.Consumed {
			continue
		}
		reason := uint8(b.Why[i])
		if a.of.picked>>i&1 != 0 {
			a.of.in[i].SetDropped(reason)
		} else if a.of.later>>i&1 != 0 && a.c.Filter.FitsReason(true, reason, 0) && a.c.Allow(b.Now) {
			a.of.in[i] = a.takeDropped(b, i, b.Vec[i], In, reason)
		}
		a.of.later &^= 1 << i
	}
}

// Lost looks which packets of the burst a port did not take: those are left in it, and not yet
// reported.
func (a *Aside) Lost(b *burst.Burst) {
	if a.c == nil || !a.of.used {
		return
	}
	for _, l := range b.Untold() {
		i, reason := l.I, uint8(l.Why)
		a.of.in[i].SetDropped(reason)
		a.of.out[i].SetDropped(reason)
		if a.of.later>>i&1 != 0 && a.c.Filter.FitsReason(true, reason, 0) && a.c.Allow(b.Now) {
			a.takeDropped(b, int(i), l.Frame, Out, reason)
		}
	}
}
