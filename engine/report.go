// Stage report: makes a reporting.Subject of packets, flows, losses and drops that an event
// fired for; puts them into the feed of /api/v1/events, while somebody reads.

package engine

import (
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/inspect"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// report reports every packet whose events ask for it, before its headers are touched. It
// runs only where an event fired.
//
//go:noinline
func (w *Worker) report(p *linkState, b *burst) {
	w.measure(p, ToHost, b)
	if w.queries.feed.On() {
		w.feedBurst(b)
	}
	left := b.reportable
	if w.rules.Report.Explain && w.Episodes().Untold() {
		left = w.reportEpisodes(b, left)
	}
	w.reportAll(b, left)
}

// reportEpisodes reports the packets of left up to one whose report sums up episodes that have ended, and returns the
// others. It is the packet that ended one, if there is such a packet, else the first.
//
//go:noinline
func (w *Worker) reportEpisodes(b *burst, left uint64) (rest uint64) {
	at := bits.TrailingZeros64(left)
	for other := left; other != 0; other &= other - 1 {
		j := bits.TrailingZeros64(other)
		if c := b.cause[j]; c.set().Has(event.Congestion) && c.priority() <= event.PriorityCongestion {
			at = j
		}
	}
	w.reportAll(b, left&(1<<at-1))
	s := w.subject(b, at, w.rules.Watches[b.cause[at].watch()].Collectors)
	s.Episodes = w.scratch.episodes[:w.Episodes().Tell(w.scratch.episodes[:])]
	w.reporter.Report(&s, b.now)
	return left &^ (1<<(at+1) - 1)
}

// reportAll reports packets, several at once where their reports are alike.
func (w *Worker) reportAll(b *burst, left uint64) {
	for left != 0 {
		if w.reporter.ByTemplate() {
			if rest := w.shed(b, left); rest != left {
				left = rest
				continue
			}
			if rest := w.gather(b, left); w.scratch.run.N > 0 && w.reporter.Together(&w.scratch.run, b.now) {
				left = rest
				continue
			}
		}
		j := bits.TrailingZeros64(left)
		w.reportOne(b, j, w.rules.Watches[b.cause[j].watch()].Collectors)
		left &= left - 1
	}
}

// reportOne reports INT packet j in all parts.
//
//go:noinline
func (w *Worker) reportOne(b *burst, j int, collectors uint64) {
	s := w.subject(b, j, collectors)
	w.reporter.Report(&s, b.now)
}

// subject is INT packet j as its report is to have it.
func (w *Worker) subject(b *burst, j int, collectors uint64) reporting.Subject {
	set, info := b.cause[j].set(), b.header(uint8(j))
	s := reporting.Subject{
		Set: set, Priority: b.cause[j].priority(), Collectors: collectors,
		Flow: b.fast.Flows[j], Entropy: uint16(b.fast.Hashes[j]), Info: info, Trigger: b.trigger[j],
	}
	if info.Type == inthdr.MX {
		s.Source, s.SourceBits = b.vec[b.fast.At[j]].Bytes()[info.Stack:][:info.SourceLen], w.locator.SourceBits(info)
	}
	w.showPacket(&s, b, uint8(j))
	return s
}

// measure reads the sink's own metadata for packets of b on their way in direction to.
func (w *Worker) measure(p *linkState, to Direction, b *burst) {
	l := p.link
	in, out := l.NetworkID, l.HostID
	if to == ToNetwork {
		in, out = out, in
	}
	w.reporter.Measure(b.now, w.clock(), in, out, l.Gauges, b.n)
}

// reportFlow reports flow f for something that no packet shows: its end, or a loss.
// The report carries headers made from the flow's key.
//
//go:noinline
func (w *Worker) reportFlow(set event.Set, f *flows.Flow, now int64) {
	x := w.reporter
	x.NoPacket(f)
	s := w.ofFlow(f, set)
	if w.rules.Report.Fragment > 0 {
		key := f.Key
		s.InType, s.Inner = report.IPv4, key.Headers(w.scratch.headers[:0])
		if key.Version() == 6 {
			s.InType = report.IPv6
		}
	}
	w.feedReport(set, f, now)
	x.Report(&s, now)
}

// ofFlow is what a report about f begins with.
func (w *Worker) ofFlow(f *flows.Flow, set event.Set) reporting.Subject {
	return reporting.Subject{
		Set: set, Priority: set.Priority(false), Collectors: w.rules.Watches[f.Watch].Collectors,
		Flow: f, Entropy: uint16(w.table.Hash(&f.Key)), InType: report.None,
	}
}

// reportDrop reports a packet of f that was dropped as frame. drops is how many
// there were since the last such report.
func (w *Worker) reportDrop(p *linkState, b *burst, f *flows.Flow, set event.Set, frame *mbuf.Mbuf, why DropReason, drops uint32) {
	s := w.ofFlow(f, set)
	w.reportFrameOf(p, ToHost, b, &s, frame, why, drops)
}

// reportFrame reports a packet that belongs to no flow, for the events of set and for d, if there are any. frame
// starts with the Ethernet header.
//
//go:noinline
func (w *Worker) reportFrame(p *linkState, from Direction, b *burst, set event.Set, frame *mbuf.Mbuf, d noFlowDrop) {
	collectors := w.eventCollectors[p.ingress(from)].of(set) | d.collectors
	if collectors == 0 {
		return
	}
	if d.collectors != 0 {
		set |= event.Drop.Set()
	}
	s := reporting.Subject{Set: set, Priority: set.Priority(false), Collectors: collectors, InType: report.None}
	s.HasINT, s.INTEnd = w.holdsINT(frame)
	w.reportFrameOf(p, from, b, &s, frame, d.why, d.count)
}

// holdsINT tells whether a frame that belongs to no flow has INT that can be read, and where the headers behind it
// end.
func (w *Worker) holdsINT(m *mbuf.Mbuf) (holds bool, end int) {
	var l packet.Layers
	var info inthdr.Info
	m.Pullup(min(pullupLen, m.PktLen()))
	f := m.Bytes()
	if packet.Parse(f, m.PktLen(), &l) != packet.OK || w.locator.Find(f, &l, &info, &w.scratch.outers) != inthdr.Sound {
		return false, 0
	}
	return true, int(info.End) + w.behindINT(&info, &l)
}

// reportFrameOf reports s with the first bytes of a whole frame: a word less than
// otherwise, for a drop reason has taken one.
func (w *Worker) reportFrameOf(p *linkState, from Direction, b *burst, s *reporting.Subject, frame *mbuf.Mbuf, why DropReason, drops uint32) {
	w.measure(p, from, b)
	s.Reason, s.Drops = why.code(), drops
	rules := &w.rules.Report
	n := rules.Fragment - 4
	if rules.WholeINT {
		n = max(n, min(s.INTEnd, MostOfINT))
	}
	if s.INTEnd = 0; n > 0 {
		s.InType, s.Inner = report.Ethernet, w.bytesOf(frame, 0, n)
	}
	w.feedReport(s.Set, s.Flow, b.now)
	w.reporter.Report(s, b.now)
}

// losses reports sequence numbers that flows lost, also of flows whose packets have ended.
func (w *Worker) losses(now int64) {
	w.detector.Lossy(now, w.rematch, func(f *flows.Flow) { w.reportFlow(event.Loss.Set(), f, now) })
}

// Feed is where a reader of any other goroutine takes what the worker reports.
func (w *Worker) Feed() *inspect.Feed { return &w.queries.feed }

// feedBurst puts every packet of b that is reported into the feed.
//
//go:noinline
func (w *Worker) feedBurst(b *burst) {
	for left := b.reportable; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		w.queries.feed.Put(b.now, b.cause[j].set(), b.fast.Flows[j], w.queries.paths)
	}
}

// feedReport puts a report that no packet of the burst shows into the feed, where
// somebody reads it.
func (w *Worker) feedReport(set event.Set, f *flows.Flow, now int64) {
	if w.queries.feed.On() {
		w.queries.feed.Put(now, set, f, w.queries.paths)
	}
}
