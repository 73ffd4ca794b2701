// Aside: a capture while it runs in a worker: when it begins and ends, and which bursts it looks at.

package capture

import (
	"sync/atomic"

	"intsink/engine/aside"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/watch"
	"intsink/flows"
)

// Rules are what a reload changes of the aside.
type Rules struct {
	Watches   []watch.Watch
	Devices   watch.Devices
	InnerKeys bool // flows are told apart by what is inside of tunnels
}

// Aside takes packets of one worker into the capture that runs. Packets of both directions are
// taken while they still have their INT, and when they leave. Where the filter selects packets by their flows' keys, it has flows marked
// whose packets it may select: those of other flows lose their INT in package fast, and bursts that have no others are none of its.
// Else, and until all flows are marked, every burst is due.
type Aside struct {
	c        *Capture // nil: none runs
	reader   selector.Reader
	detector *event.Detector
	rules    Rules
	watches  []bool   // that the capture asks for
	names    []string // of all watches, cut as records have them
	asker    *aside.Asker
	byMark   bool // what is marked is selected: the filter asks for the key alone, and nobody else has flows marked

	of burstAtHand

	asked atomic.Pointer[Capture] // by another goroutine
}

// NewAside makes the aside of a worker with this detector, whose flows marks has; Adopt gives it its rules.
func NewAside(detector *event.Detector, marks *aside.Marks) *Aside {
	return &Aside{detector: detector, asker: marks.Asker()}
}

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
		a.begin(c)
	}
	a.asker.Tick()
	a.byMark = a.byFlow() && a.c.Filter.Match.AsksKeyAlone() && a.asker.Alone()
}

// begin begins a capture.
func (a *Aside) begin(c *Capture) {
	a.c = c
	a.resolve()
	a.forget()
	if m := c.Filter.Match; m != nil {
		a.asker.Ask(func(f *flows.Flow) bool { return m.MaySelect(&f.Key) })
	}
	c.Begin()
}

// Close ends the capture that runs, if one does.
func (a *Aside) Close() {
	if c := a.c; c != nil {
		a.c, a.byMark = nil, false
		a.asker.Ask(nil)
		c.Publish()
		c.End()
	}
}

// resolve finds the watches that are asked for.
func (a *Aside) resolve() {
	if a.c == nil {
		return
	}
	a.watches, a.names = make([]bool, len(a.rules.Watches)), make([]string, len(a.rules.Watches))
	for i := range a.rules.Watches {
		a.names[i] = a.rules.Watches[i].Name[:min(len(a.rules.Watches[i].Name), maxWatch)]
		for _, name := range a.c.Filter.Watches {
			a.watches[i] = a.watches[i] || name == a.rules.Watches[i].Name
		}
	}
}

// On tells whether a capture runs.
func (a *Aside) On() bool { return a.c != nil }

// byFlow tells whether the capture that runs wants no packets of flows that are not marked.
func (a *Aside) byFlow() bool {
	return a.c != nil && a.c.Filter.Match != nil && len(a.rules.Watches) > 0 && !a.rules.InnerKeys && a.asker.Marked()
}

// AsksPlain tells whether the capture that runs may want packets of link i without INT.
func (a *Aside) AsksPlain(i int) bool { return a.c != nil && a.c.Filter.FitsLink(i) }

// Next implements aside.Aside: while a capture runs that does not go by flows, every burst is due.
func (a *Aside) Next() (packets, at int64) {
	if a.c != nil && !a.byFlow() {
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
	a.of.due = a.c.Filter.FitsLink(b.Link.Index)
	return a.of.due
}

// Select is Due for a burst that package fast has matched, where the capture goes by flows: is there any packet that it may want.
func (a *Aside) Select(b *burst.Burst) bool {
	if a.of.due || !a.byFlow() {
		return false // it is asked for already, or was asked about
	}
	f := b.Fast
	if f.Unknown|f.Missing|f.Kept == 0 && len(f.Deferred()) == 0 && f.Len() == b.N {
		a.Pass()
		return false
	}
	return a.Due(b, 0)
}

// Pass says that nothing is wanted of the burst at hand, not even if it is dropped later.
func (a *Aside) Pass() {
	if a.of.used {
		a.forget()
	}
}

func (a *Aside) forget() { a.of = burstAtHand{} }
