// Aside: a capture while it runs in a worker: copies the packets of a burst that it wants, as they
// came and as they leave, and notes verdict and events.

package capture

import (
	"sync/atomic"

	"intsink/dpdk/mbuf"
	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Rules are what a reload changes of the aside.
type Rules struct {
	Watches   []watch.Watch
	Devices   watch.Devices
	InnerKeys bool // flows are told apart by what is inside of tunnels
}

// Aside takes packets of one worker into the capture that runs. Packets of both directions are
// taken while they still have their INT, and when they leave.
type Aside struct {
	c        *Capture // nil: none runs
	reader   selector.Reader
	detector *event.Detector
	rules    Rules
	watches  []bool // that the capture asks for

	// Of the burst at hand, by place.
	later     uint64 // bit: the packet is wanted if it is dropped for one of the reasons
	picked    uint64 // bit: it is wanted
	in, out   [mbuf.MaxBurst]Slot
	events    [mbuf.MaxBurst]event.Set
	malformed [mbuf.MaxBurst]inthdr.Reason
	watch     [mbuf.MaxBurst]uint8
	number    [mbuf.MaxBurst]uint8 // of those with INT, from 1 on; 0: it has none

	record Record

	asked atomic.Pointer[Capture] // by another goroutine
}

// NewAside makes the aside of a worker with this detector; Adopt gives it its rules.
func NewAside(detector *event.Detector) *Aside { return &Aside{detector: detector} }

// Adopt makes r the rules of the aside.
func (a *Aside) Adopt(r Rules) {
	a.rules = r
	a.reader.Adopt(r.Devices, r.InnerKeys)
	a.resolve()
}

// Capture hands over a capture, which begins with the next tick and takes the place of one
// that runs; nil ends it. Safe from any goroutine.
func (a *Aside) Capture(c *Capture) { a.asked.Store(c) }

// Tick begins and ends captures.
func (a *Aside) Tick(now int64) {
	c := a.asked.Load()
	if c != nil && c.Ended() {
		c = nil
	}
	if a.c != nil && (c != a.c || now >= a.c.Until) {
		a.Close()
		if c != nil && c.Ended() {
			return
		}
	}
	switch {
	case a.c != nil:
		a.c.Publish()
	case c != nil:
		a.c = c
		a.resolve()
		a.forget()
		c.Begin()
	}
}

// Close ends the capture that runs, if one does.
func (a *Aside) Close() {
	if c := a.c; c != nil {
		a.c = nil
		c.Publish()
		c.End()
	}
}

// resolve finds the watches that are asked for.
func (a *Aside) resolve() {
	if a.c == nil {
		return
	}
	a.watches = make([]bool, len(a.rules.Watches))
	for i := range a.rules.Watches {
		for _, name := range a.c.Filter.Watches {
			a.watches[i] = a.watches[i] || name == a.rules.Watches[i].Name
		}
	}
}

// Next implements aside.Aside: while a capture runs, every burst is due.
func (a *Aside) Next() (packets, at int64) {
	if a.c != nil {
		return 0, 0
	}
	return aside.Never, aside.Never
}

// Due publishes the packets of the burst before, which has left, and forgets it.
func (a *Aside) Due(b *burst.Burst, _ int64) bool {
	if a.c == nil {
		return false
	}
	a.c.Publish()
	if b.Now >= a.c.Until {
		a.Close()
		return false
	}
	a.forget()
	return a.c.Filter.FitsLink(b.Link.Index)
}

func (a *Aside) forget() {
	a.later, a.picked = 0, 0
	a.in, a.out = [mbuf.MaxBurst]Slot{}, [mbuf.MaxBurst]Slot{}
	a.events, a.malformed = [mbuf.MaxBurst]event.Set{}, [mbuf.MaxBurst]inthdr.Reason{}
	a.number = [mbuf.MaxBurst]uint8{}
	for i := range a.watch {
		a.watch[i] = watch.None
	}
}

// Arrived copies the wanted packets of a burst as they came. Some have been dropped already.
func (a *Aside) Arrived(b *burst.Burst) {
	if b.Direction == burst.ToHost {
		a.noteINT(b)
	}
	a.noteLeft(b)
	for i := range b.N {
		dropped, reason := b.Verdict[i] == burst.Consumed, b.Why[i]
		if b.Link.Host == nil && !dropped {
			dropped, reason = true, burst.DropTap
		}
		a.choose(b, i, b.Vec[i], dropped, reason)
		if a.picked>>i&1 != 0 {
			a.record = Record{Dropped: dropped, Reason: uint8(reason)}
			a.in[i] = a.take(b, i, b.Vec[i], In)
		}
	}
}

// noteINT notes the watches, events and senseless contents of packets with INT.
func (a *Aside) noteINT(b *burst.Burst) {
	for j := range b.Fast.Len() {
		i := b.Fast.At[j]
		a.number[i] = uint8(j + 1)
		a.malformed[i] = b.Header(uint8(j)).Reason
		if f := b.Fast.Flows[j]; b.Watched && f != nil && f.Generation == b.Generation {
			a.watch[i] = f.Watch
		}
		if b.Reportable>>j&1 != 0 {
			a.events[i] |= b.Cause[j].Set()
		}
	}
}

// noteLeft notes the events of packets that belong to no flow.
func (a *Aside) noteLeft(b *burst.Burst) {
	for _, l := range b.AllLeft() {
		if l.Event == burst.NoEvent {
			continue
		}
		a.events[l.I] |= l.Event.Set()
		if l.Event == event.Malformed {
			a.malformed[l.I] = b.Info[l.I].Reason
		}
	}
}

// choose says whether packet i of the burst is wanted, now or if it is dropped later.
func (a *Aside) choose(b *burst.Burst, i int, m *mbuf.Mbuf, dropped bool, reason burst.DropReason) {
	f := &a.c.Filter
	if f.AsksFlow() && (a.watch[i] == watch.None || !a.watches[a.watch[i]]) {
		return
	}
	if !f.FitsEvents(a.events[i]) || f.Match != nil && !a.matches(i, m, b) {
		return
	}
	switch {
	case !f.FitsReason(dropped, uint8(reason), a.malformed[i]):
		a.later |= 1 << i
	case a.c.Allow(b.Now):
		a.picked |= 1 << i
	}
}

// matches tells whether the filter selects packet i.
func (a *Aside) matches(i int, m *mbuf.Mbuf, b *burst.Burst) bool {
	if n := int(a.number[i]); n != 0 {
		return a.reader.OfINT(a.c.Filter.Match, m, b, n-1) != selector.None
	}
	return a.reader.Of(a.c.Filter.Match, m, b) != selector.None
}

// take copies m, which is packet i of the burst, if the capture wants packets of this stage. Whether it
// was dropped is in a.record.
func (a *Aside) take(b *burst.Burst, i int, m *mbuf.Mbuf, at Stages) Slot {
	if a.c.Filter.Stages&at == 0 {
		return nil
	}
	r := &a.record
	r.Link, r.ToNetwork = b.Link.Index, b.Direction == burst.ToNetwork
	r.Time, r.Out, r.Events, r.Malformed = b.Now+a.detector.Wall, at == Out, a.events[i], a.malformed[i]
	r.Host = r.Out != r.ToNetwork
	r.Watch = ""
	if k := a.watch[i]; k != watch.None {
		r.Watch = a.rules.Watches[k].Name
	}
	return a.c.Take(r, m)
}

// Leaving finds the packets that were dropped since they arrived, copies those with a wanted drop
// reason as they are, and all that leave.
func (a *Aside) Leaving(b *burst.Burst) {
	a.noteLeft(b)
	for i := range b.N {
		if b.Verdict[i] != burst.Consumed {
			continue
		}
		reason := uint8(b.Why[i])
		if a.picked>>i&1 != 0 {
			a.in[i].SetDropped(reason)
		} else if a.later>>i&1 != 0 && a.c.Filter.FitsReason(true, reason, 0) && a.c.Allow(b.Now) {
			a.record = Record{Dropped: true, Reason: reason}
			a.in[i] = a.take(b, i, b.Vec[i], In)
		}
		a.later &^= 1 << i
	}
	if b.Link.Host == nil {
		return
	}
	a.record = Record{}
	for i := range b.N {
		if b.Verdict[i] != burst.Consumed && a.picked>>i&1 != 0 {
			a.out[i] = a.take(b, i, b.Vec[i], Out)
		}
	}
}

// Lost looks which packets of the burst a port did not take: those are left in it, and not yet
// reported.
func (a *Aside) Lost(b *burst.Burst) {
	if a.c == nil {
		return
	}
	for _, l := range b.Untold() {
		i, reason := l.I, uint8(l.Why)
		a.in[i].SetDropped(reason)
		a.out[i].SetDropped(reason)
		if a.later>>i&1 != 0 && a.c.Filter.FitsReason(true, reason, 0) && a.c.Allow(b.Now) {
			a.record = Record{Dropped: true, Reason: reason}
			a.take(b, int(i), l.Frame, Out)
		}
	}
}
