// Reports what other stages left in the burst: packets that were dropped, and unsound INT and leaks,
// which belong to no flow.

package report

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

// Left reports what stages left in b since it was called last.
//
//go:noinline
func (s *Stage) Left(b *burst.Burst) {
	for _, l := range b.Untold() {
		var set event.Set
		if l.Event != burst.NoEvent {
			set = s.noFlowEvent(b, l.Event)
		}
		switch {
		case l.Flow == nil:
			s.reportFrame(b, set, &l, s.dropped(b, &l))
		case l.Flow.Watch != watch.None:
			if set, count := s.Detector.Dropped(b.Now, l.Flow, uint8(l.Why)); set != 0 {
				s.reportDrop(b, set, &l, count)
			}
		}
	}
	b.Told()
}

// noFlowDrop is a dropped packet that belongs to no flow, as its report has it. Without collectors there is none.
type noFlowDrop struct {
	count      uint32 // packets since the last report
	collectors uint64 // bit i: collector i gets it
}

// dropped is the event of a packet that was dropped and belongs to no flow: of the watch that selects it, if
// that has the event.
func (s *Stage) dropped(b *burst.Burst, l *burst.Left) (d noFlowDrop) {
	if !l.Dropped {
		return d
	}
	s.Detector.Counters.Fired[event.Drop]++
	if s.byEvent[b.Ingress][event.Drop] == 0 {
		return d
	}
	at := s.watchOfFrame(b, l.Frame)
	if at == watch.None || !s.rules.Policies[at].Events.Has(event.Drop) {
		return d
	}
	n, ok := b.Link.Limits.DropDue(b.Direction, l.Why, b.Now, s.rules.DropInterval)
	if !ok {
		s.Detector.Counters.Suppressed[event.Drop][event.SuppressInterval]++
		return d
	}
	d.count, d.collectors = n, s.rules.Policies[at].Collectors
	return d
}

// watchOfFrame finds the watch of a packet that belongs to no flow: by its headers as they are without INT. What
// is no IP packet is selected by a watch that selects everything.
func (s *Stage) watchOfFrame(b *burst.Burst, m *mbuf.Mbuf) uint8 {
	f, x := burst.Headers(m), &s.frame
	if packet.Parse(f, m.PktLen(), &x.layers) != packet.OK {
		return s.rules.Watches.FirstOfAll(b.Ingress)
	}
	l := x.layers
	if x.info = (inthdr.Info{}); b.Link.Locator.Find(f, &x.layers, &x.info, &x.outers) != inthdr.Sound {
		x.layers, x.info = l, inthdr.Info{DSCP: l.DSCP, End: max(l.L4, l.Payload)}
	}
	burst.SetKey(&x.key, f, &x.layers, &x.info)
	if s.rules.InnerKeys {
		s.facts.Inner(&watch.Packet{Frame: f, Layers: &x.layers, Info: &x.info, Outers: &x.outers, Key: &x.key, Locator: b.Link.Locator})
	}
	if !s.rules.Watches.Asks() {
		return s.rules.Watches.First(&x.key, nil)
	}
	s.facts.Read(s.rules.Watches, &watch.Packet{Frame: f, Layers: &x.layers, Info: &x.info, Outers: &x.outers, Key: &x.key,
		Ingress: b.Ingress, Locator: b.Link.Locator})
	return s.rules.Watches.First(&x.key, s.facts)
}

// noFlowEvent is the event of a packet that belongs to no flow, at most one per port
// and second: malformed or leak.
func (s *Stage) noFlowEvent(b *burst.Burst, e event.Event) event.Set {
	if s.byEvent[b.Ingress][e] == 0 {
		s.Detector.Counters.Fired[e]++
		return 0
	}
	return s.Detector.Limited(b.Now, e, b.Link.Limits.LastReported(e))
}

// reportDrop reports a packet of a flow that was dropped. drops is how many there were since the last such report.
func (s *Stage) reportDrop(b *burst.Burst, set event.Set, l *burst.Left, drops uint32) {
	x := s.ofFlow(l.Flow, set)
	s.reportFrameOf(b, &x, l, drops)
}

// reportFrame reports a packet that belongs to no flow, for the events of set and for d, if there are any. Its frame
// starts with the Ethernet header.
func (s *Stage) reportFrame(b *burst.Burst, set event.Set, l *burst.Left, d noFlowDrop) {
	collectors := s.byEvent[b.Ingress].of(set) | d.collectors
	if collectors == 0 {
		return
	}
	if d.collectors != 0 {
		set |= event.Drop.Set()
	}
	x := reporting.Subject{Set: set, Priority: set.Priority(false), Collectors: collectors, InType: report.None}
	x.HasINT, x.INTEnd = s.holdsINT(b, l.Frame)
	s.reportFrameOf(b, &x, l, d.count)
}

// holdsINT tells whether a frame that belongs to no flow has INT that can be read, and where the headers behind it
// end.
func (s *Stage) holdsINT(b *burst.Burst, m *mbuf.Mbuf) (holds bool, end int) {
	f, x := burst.Headers(m), &s.frame
	if x.info = (inthdr.Info{}); packet.Parse(f, m.PktLen(), &x.layers) != packet.OK ||
		b.Link.Locator.Find(f, &x.layers, &x.info, &x.outers) != inthdr.Sound {
		return false, 0
	}
	return true, int(x.info.End) + behindINT(b.Link.Locator, &x.info, &x.layers)
}

// reasonLen is how much shorter the fragment of a dropped packet is: a drop reason has taken a word.
const reasonLen = 4

// reportFrameOf reports x with the first bytes of a whole frame: a word less than
// otherwise, for a drop reason has taken one.
func (s *Stage) reportFrameOf(b *burst.Burst, x *reporting.Subject, l *burst.Left, drops uint32) {
	s.Recorder.Left(b, x.Set, l)
	s.measure(b)
	x.Dropped, x.Reason, x.Drops = l.Dropped, l.Why.Code(), drops
	rules := s.rules.Report
	n := rules.Fragment - reasonLen
	if rules.WholeINT {
		n = max(n, min(x.INTEnd, MostOfINT))
	}
	if x.INTEnd = 0; n > 0 {
		x.InType, x.Inner = report.Ethernet, s.bytesOf(l.Frame, 0, n)
	}
	s.feedReport(x.Set, x.Flow, b.Now)
	s.Reporter.Report(x, b.Now)
}

// eventCollectors has the collectors of each event: those of all watches that have the event. Packets that belong to
// no flow are reported by it.
type eventCollectors [event.NumEvents]uint64

// eventCollectorsOf returns those of each port that packets come by, at watch.IngressOf: watches may select some
// ports.
func eventCollectorsOf(policies []Policy, links int) []eventCollectors {
	all := make([]eventCollectors, int(burst.NumDirections)*links)
	for ingress := range all {
		for i := range policies {
			x := &policies[i]
			for e := range all[ingress] {
				if x.Events.Has(event.Event(e)) && x.Match.Takes(uint16(ingress)) {
					all[ingress][e] |= x.Collectors
				}
			}
		}
	}
	return all
}

// of returns the collectors of all events in set.
func (in *eventCollectors) of(set event.Set) (collectors uint64) {
	for e := range in {
		if set.Has(event.Event(e)) {
			collectors |= in[e]
		}
	}
	return collectors
}
