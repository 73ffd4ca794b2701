package engine

import (
	"math/bits"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// report builds one individual report for every packet whose events ask for
// it, before its headers are touched. It runs only when an event fired.
//
//go:noinline
func (w *Worker) report(p *linkState, b *burst) {
	w.measure(p, ToHost, b)
	if w.queries.feed.On() {
		w.feedBurst(b)
	}
	w.template.Clear()
	for left := b.reportable; left != 0; {
		j := bits.TrailingZeros64(left)
		info, collectors := &b.info[b.places[j]], w.rules.Watches[b.watch[j]].Collectors
		if info.Type == inthdr.MD && collectors&w.perReport == 0 && w.hasTemplate(info) {
			left = w.reportTogether(b, left, collectors)
		} else {
			w.reportWhole(b, j, collectors)
			left &= left - 1
		}
	}
}

// reportWhole reports one packet in all parts.
//
//go:noinline
func (w *Worker) reportWhole(b *burst, j int, collectors uint64) {
	i, set, flow := b.places[j], b.events[j], b.flow[j]
	w.fillMain(&w.individual, &b.info[i], b.vec[i].Bytes(), set)
	w.individual.InType, w.individual.Inner = w.innerOf(b, i)
	w.explainFlow(flow, set, b.trigger[j])
	priority := set.Priority(b.edges>>j&1 != 0)
	w.sendReport(set, priority, collectors, flow, uint16(b.hashes[j]), b.now)
}

// measure reads the sink's own metadata for packets of b on their way in direction
// to.
func (w *Worker) measure(p *linkState, to Direction, b *burst) {
	egress := w.clock()
	md := &w.metadata
	md.IngressPort, md.EgressPort = p.link.NetworkID, p.link.HostID
	if to == ToNetwork {
		md.IngressPort, md.EgressPort = md.EgressPort, md.IngressPort
	}
	md.IngressTimestamp, md.EgressTimestamp = uint64(b.now), uint64(egress)
	md.HopLatencyNs = uint32(min(egress-b.now, 0xfffffffe))
	md.QueueID = w.queueID
	w.provided = p.link.Gauges.read(md, b.n)
}

// reportFlow reports flow f for something that no packet shows: its end, or a loss.
// The report carries headers made from the flow's key.
//
//go:noinline
func (w *Worker) reportFlow(set event.Set, f *flows.Flow, now int64) {
	md := &w.metadata
	md.IngressPort, md.EgressPort = 0xffff, 0xffff // unknown: there is no packet
	md.IngressTimestamp, md.EgressTimestamp = uint64(f.LastSeen()), uint64(f.LastSeen())
	md.HopLatencyNs = 0xffffffff
	w.provided = alwaysProvided
	r := &w.individual
	w.fillMain(r, &inthdr.Info{}, nil, set)
	if w.rules.Report.Fragment == 0 {
		r.InType, r.Inner = report.None, nil
	} else {
		key := f.Key
		r.Inner = key.Headers(w.scratch[:0])
		r.InType = report.IPv4
		if key.Version() == 6 {
			r.InType = report.IPv6
		}
	}
	w.explainFlow(f, set, event.Trigger{})
	w.feedReport(set, f, now)
	w.sendReport(set, set.Priority(false), w.rules.Watches[f.Watch].Collectors, f, uint16(w.table.Hash(&f.Key)), now)
}

// reportDrop reports a packet of f that was dropped as frame. drops is how many
// there were since the last such report.
func (w *Worker) reportDrop(p *linkState, b *burst, f *flows.Flow, set event.Set, frame []byte, why DropReason, drops uint32) {
	w.measure(p, ToHost, b)
	w.metadata.DropReason = why.code()
	w.fillMain(&w.individual, &inthdr.Info{}, nil, set)
	w.fillFrame(frame)
	w.explainFlow(f, set, event.Trigger{})
	w.explanation.Drops = drops
	w.feedReport(set, f, b.now)
	w.sendReport(set, set.Priority(false), w.rules.Watches[f.Watch].Collectors, f, uint16(w.table.Hash(&f.Key)), b.now)
}

// fillFrame makes the first bytes of a whole frame the inner contents: a word less
// than otherwise, for a drop reason has taken one.
func (w *Worker) fillFrame(frame []byte) {
	r := &w.individual
	r.InType, r.Inner = report.None, nil
	if n := w.rules.Report.Fragment - 4; n > 0 {
		r.InType, r.Inner = report.Ethernet, frame[:min(n, len(frame))]
	}
}

// losses reports what flows lost, where no packet of theirs comes to say it.
func (w *Worker) losses(now int64) {
	w.detector.Lossy(now, w.rematch, func(f *flows.Flow) { w.reportFlow(event.Loss.Set(), f, now) })
}

// fillMain makes the sink's own metadata the main contents of r. A packet of
// INT-MX says itself what it wants of every node; what of it the sink cannot
// provide is left out. What its source inserted for a domain that is configured is
// copied, with its bits (INT 2.1, section "INT-MX Header Format", way b).
func (w *Worker) fillMain(r *report.Individual, info *inthdr.Info, frame []byte, set event.Set) {
	rules := &w.rules.Report
	r.RepType, r.RepMdBits, r.DomainSpecificID = report.INT, rules.MdBits&w.provided, info.DomainID
	r.DSMdBits = 0
	switch {
	case info.Type == inthdr.MX:
		r.RepMdBits = info.Bitmap & w.provided
	case rules.MdBits == 0 && rules.Domain == 0:
		r.RepType = report.InnerOnly
	}
	if set.Has(event.Drop) {
		r.RepType, r.RepMdBits = report.INT, r.RepMdBits|report.MdDropReason
	}
	n := w.metadata.Put(w.mdBytes[:], r.RepMdBits)
	if rules.Domain != 0 {
		r.DomainSpecificID = rules.Domain
	} else if info.Type == inthdr.MX && info.SourceLen > 0 && n+int(info.SourceLen) <= report.MaxMetadata {
		r.DSMdBits = w.locator.SourceBits(info)
		n += copy(w.mdBytes[n:], frame[info.Stack:][:info.SourceLen])
	}
	r.Metadata = w.mdBytes[:n]
	r.Own = &w.metadata
}

// sendReport appends w.individual to the open report packet of each of collectors
// whose budget allows it. f is nil where the packet belongs to no flow.
func (w *Worker) sendReport(set event.Set, p event.Priority, collectors uint64, f *flows.Flow, entropy uint16, now int64) {
	r := &w.individual
	rules := &w.rules.Report
	r.TrackedFlow, r.Dropped, r.CongestedQueue = f != nil, set.Has(event.Drop), set.Has(event.Congestion)
	if rules.Explain {
		w.explanation.Events = uint32(set)
		r.Explain(&w.explanation, w.tlvs[:])
	}
	sent, shed := false, false
	for c, mask := 0, collectors; mask != 0; c, mask = c+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		o := &w.outboxes[c]
		if o.limit.on && !o.admits(rules.Format, r, p, now) {
			countEvents(&o.counters.Shed, set)
			shed = true
		} else if o.add(rules.Format, r, entropy, now) {
			sent = true
		}
	}
	if sent {
		countEvents(&w.counters.Reported, set)
	} else if shed {
		countEvents(&w.counters.Shed, set)
		if f != nil {
			f.Cold().Shed++
		}
	}
	if set.Has(event.Refresh) {
		w.refreshes.note(shed)
	}
}

// explainFlow prepares the Explanation of a report of f.
func (w *Worker) explainFlow(f *flows.Flow, set event.Set, trigger event.Trigger) {
	if !w.rules.Report.Explain {
		return
	}
	e := &w.explanation
	*e = report.Explanation{Trigger: report.NoTrigger}
	if set&event.Triggered != 0 {
		e.Trigger = report.Trigger(trigger)
	}
	e.Packets, e.Bytes = f.Totals()
	if f.HasCold() {
		c := f.Cold()
		e.Suppressed, e.Lost, e.Drops = c.Suppressed, c.Lost, c.Drops
	}
	if set.Has(event.Loss) {
		l, _ := f.Loss()
		e.Lost = l.Reported
	}
}
