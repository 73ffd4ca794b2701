// A capture while it runs: copies the packets of a burst that it wants, as they came and as they
// leave, and notes verdict and events.

package engine

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/capture"
	"intsink/engine/event"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
)

// Capture hands over a capture, which begins with the next tick and takes the place of one
// that runs; nil ends it. Safe from any goroutine.
func (w *Worker) Capture(c *capture.Capture) {
	var x *capturing
	if c != nil {
		x = &capturing{Capture: c, queues: make([]captureQueue, 2*len(w.links))}
	}
	w.askedCapture.Store(x)
	w.changed.Store(true)
}

// capturing is a capture while it runs. Its queues wrap those of all links: there it sees packets
// that leave and packets from a host. The long way shows it packets from the network while they
// still have their INT (arrived).
type capturing struct {
	*capture.Capture
	queues  []captureQueue
	watches []bool // those that are asked for, of the rules in force

	// Of the burst at hand, by place.
	later     uint64 // bit: the packet is wanted if it is dropped for one of the reasons
	picked    uint64 // bit: it is wanted
	seen      uint64 // bit: of packets from the host, it was chosen or not
	in, out   [mbuf.MaxBurst]capture.Slot
	events    [mbuf.MaxBurst]event.Set
	malformed [mbuf.MaxBurst]inthdr.Reason
	watch     [mbuf.MaxBurst]uint8
	at        [mbuf.MaxBurst]uint8 // by place in what is transmitted: in the burst
	turned    bool                 // the burst is the one that came from the host
	sent      bool                 // and was transmitted once

	record capture.Record
}

// beginCapture puts x in front of all queues.
func (w *Worker) beginCapture(x *capturing) {
	w.endCapture()
	if w.capture = x; x == nil {
		return
	}
	x.resolve(w.rules)
	for i := range w.links {
		if !x.Filter.FitsLink(i) {
			continue
		}
		p, q := &w.links[i], x.queues[2*i:]
		q[0] = captureQueue{Queue: p.link.Network, w: w, link: i}
		p.link.Network = &q[0]
		if p.link.Host != nil {
			q[1] = captureQueue{Queue: p.link.Host, w: w, link: i, host: true}
			p.link.Host = &q[1]
		}
	}
	x.Begin()
}

// endCapture ends the capture that runs, if one does.
func (w *Worker) endCapture() {
	x := w.capture
	if x == nil {
		return
	}
	for i := range w.links {
		l := w.links[i].link
		if q, ok := l.Network.(*captureQueue); ok {
			l.Network = q.Queue
		}
		if q, ok := l.Host.(*captureQueue); ok {
			l.Host = q.Queue
		}
	}
	w.capture = nil
	w.setEvery()
	x.Publish()
	x.End()
}

// resolve finds the watches that are asked for among those of r.
func (x *capturing) resolve(r *Rules) {
	x.watches = make([]bool, len(r.Watches))
	for i := range r.Watches {
		for _, name := range x.Filter.Watches {
			x.watches[i] = x.watches[i] || name == r.Watches[i].Name
		}
	}
}

// captured is the capture of packets of p; nil: there is none.
func (w *Worker) captured(p *linkState) *capturing {
	if x := w.capture; x != nil && x.Filter.FitsLink(w.indexOf(p)) {
		return x
	}
	return nil
}

// begin forgets the burst before, which the reader may see.
func (x *capturing) begin() {
	x.Publish()
	x.turned, x.sent = false, false
	x.forget()
}

// turn forgets what came from the network: the burst at hand came from the host.
func (x *capturing) turn() {
	if !x.turned {
		x.turned = true
		x.forget()
	}
}

func (x *capturing) forget() {
	x.later, x.picked, x.seen = 0, 0, 0
	x.in, x.out = [mbuf.MaxBurst]capture.Slot{}, [mbuf.MaxBurst]capture.Slot{}
	x.events, x.malformed = [mbuf.MaxBurst]event.Set{}, [mbuf.MaxBurst]inthdr.Reason{}
	for i := range x.watch {
		x.watch[i] = watch.None
	}
}

// arrived copies the wanted packets of a burst from the network. They still have their INT. Some
// have been dropped already.
func (x *capturing) arrived(w *Worker, p *linkState, b *burst, watched bool) {
	for j := range b.fast.Len() {
		i := b.fast.At[j]
		if h := b.header(uint8(j)); x.malformed[i] == inthdr.ReasonNone {
			x.malformed[i] = h.Reason
		}
		if f := b.fast.Flows[j]; watched && f != nil && f.Generation == w.generation {
			x.watch[i] = f.Watch
		}
		if b.reportable>>j&1 != 0 {
			x.events[i] |= b.cause[j].set()
		}
	}
	link := w.indexOf(p)
	for i := range b.n {
		dropped, reason := b.verdict[i] == consumed, b.why[i]
		if p.link.Host == nil && !dropped {
			dropped, reason = true, DropTap
		}
		x.choose(w, b, i, b.vec[i], dropped, reason)
		if x.picked>>i&1 != 0 {
			x.record = capture.Record{Link: link, Dropped: dropped, Reason: uint8(reason)}
			x.in[i] = x.take(w, b, i, b.vec[i], capture.In)
		}
	}
}

// passedOn takes packets of a burst that nobody looks at.
func (x *capturing) passedOn(w *Worker, p *linkState, b *burst) {
	for i := range b.n {
		x.choose(w, b, i, b.vec[i], false, 0)
		if x.picked>>i&1 != 0 {
			x.record = capture.Record{Link: w.indexOf(p)}
			x.in[i] = x.take(w, b, i, b.vec[i], capture.In)
		}
	}
}

// choose says whether packet i of the burst is wanted, now or if it is dropped later.
func (x *capturing) choose(w *Worker, b *burst, i int, m *mbuf.Mbuf, dropped bool, reason DropReason) {
	f := &x.Filter
	if f.AsksFlow() && (x.watch[i] == watch.None || !x.watches[x.watch[i]]) {
		return
	}
	if !f.FitsEvents(x.events[i]) || f.Match != nil && w.ruleOf(f.Match, m, b) == nil {
		return
	}
	switch {
	case !f.FitsReason(dropped, uint8(reason), x.malformed[i]):
		x.later |= 1 << i
	case x.Allow(b.now):
		x.picked |= 1 << i
	}
}

// take copies m, which is packet i of the burst, if the capture wants packets of this stage. The
// other fields of the record are in x.record.
func (x *capturing) take(w *Worker, b *burst, i int, m *mbuf.Mbuf, at capture.Stages) capture.Slot {
	if x.Filter.Stages&at == 0 {
		return nil
	}
	r := &x.record
	r.Time, r.Out, r.Events, r.Malformed = b.now+w.detector.Wall, at == capture.Out, x.events[i], x.malformed[i]
	r.Host = r.Out != r.ToNetwork
	r.Watch = ""
	if k := x.watch[i]; k != watch.None {
		r.Watch = w.rules.Watches[k].Name
	}
	return x.Take(r, m)
}

// unsound notes what is wrong with packet i of the burst.
func (x *capturing) unsound(i int, why inthdr.Reason) {
	x.malformed[i] = why
	x.events[i] |= event.Malformed.Set()
}

// fromHost takes packet i of the burst from the host as it came, and those in front of it, if they were not yet
// taken: in the order in which they came. Packet i is dropped now, or not yet.
func (x *capturing) fromHost(w *Worker, p *linkState, b *burst, i int, dropped bool, reason DropReason) {
	x.turn()
	for k := range i + 1 {
		if x.seen>>k&1 != 0 {
			continue
		}
		x.seen |= 1 << k
		dropped := dropped && k == i
		x.choose(w, b, k, b.vec[k], dropped, reason)
		if x.picked>>k&1 != 0 {
			x.record = capture.Record{Link: w.indexOf(p), ToNetwork: true, Dropped: dropped, Reason: uint8(reason)}
			x.in[k] = x.take(w, b, k, b.vec[k], capture.In)
		}
	}
	if dropped {
		x.in[i].SetDropped(uint8(reason))
	}
}

// leaked notes that packet i of the burst from the host has INT.
func (x *capturing) leaked(i int) {
	x.turn()
	x.events[i] |= event.Leak.Set()
}

// stripped finds the packets that were dropped instead of stripped, and copies those with a
// wanted drop reason as they came.
func (x *capturing) stripped(w *Worker, p *linkState, b *burst) {
	for i := range b.n {
		if b.verdict[i] != consumed {
			continue
		}
		reason := b.why[i]
		if x.picked>>i&1 != 0 {
			x.in[i].SetDropped(uint8(reason))
		} else if x.later>>i&1 != 0 && x.Filter.FitsReason(true, uint8(reason), 0) && x.Allow(b.now) {
			x.record = capture.Record{Link: w.indexOf(p), Dropped: true, Reason: uint8(reason)}
			x.in[i] = x.take(w, b, i, b.vec[i], capture.In)
		}
		x.later &^= 1 << i
	}
}

// refusedAll looks which packets a port did not take; they are in b.drop.
func (x *capturing) refusedAll(w *Worker, p *linkState, to Direction, b *burst, l *lost) {
	for k := range l.n {
		place := l.place[k]
		i, reason := x.at[place], uint8(l.why[k])
		x.in[i].SetDropped(reason)
		x.out[place].SetDropped(reason)
		if x.later>>i&1 != 0 && x.Filter.FitsReason(true, reason, 0) && x.Allow(b.now) {
			x.record = capture.Record{Link: w.indexOf(p), ToNetwork: to == ToNetwork, Dropped: true, Reason: reason}
			x.take(w, b, int(i), b.drop[k], capture.Out)
		}
	}
}

// indexOf is the index of p among the links.
func (w *Worker) indexOf(p *linkState) int {
	for i := range w.links {
		if &w.links[i] == p {
			return i
		}
	}
	return 0
}
