package engine

import (
	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
	"intsink/flows"
)

// report builds one individual report for every packet whose events ask for
// it, before its headers are touched. It runs only when an event fired.
//
//go:noinline
func (w *Worker) report(p *path, b *burst) {
	egress := w.clock()
	md := &w.metadata
	md.IngressPort, md.EgressPort = p.link.NetworkID, p.link.HostID
	md.IngressTimestamp, md.EgressTimestamp = uint64(b.now), uint64(egress)
	md.HopLatencyNs = uint32(min(egress-b.now, 0xfffffffe))
	md.QueueID = w.queueID
	w.provided = p.link.Gauges.read(md, b.n)
	for j := range b.nINT {
		set := b.events[j]
		if set == 0 {
			continue
		}
		i := b.int[j]
		r := &w.individual
		w.fillMain(r, &b.info[i], b.frame[i])
		outermost := &b.layers[i]
		if b.info[i].Depth > 0 {
			outermost = &b.outers[i][0]
		}
		w.fillInner(r, b.frame[i], outermost)
		w.sendReport(set, b.flow[j].Watch, uint16(b.hashes[j]), b.now)
	}
}

// reportEnd builds the report of a flow that ended. There is no packet to show,
// so it carries headers made from the flow's key.
//
//go:noinline
func (w *Worker) reportEnd(f *flows.Flow, now int64) {
	md := &w.metadata
	md.IngressPort, md.EgressPort = 0xffff, 0xffff // unknown: there is no packet
	md.IngressTimestamp, md.EgressTimestamp = uint64(f.LastSeen()), uint64(f.LastSeen())
	md.HopLatencyNs = 0xffffffff
	w.provided = alwaysProvided
	r := &w.individual
	w.fillMain(r, &inthdr.Info{}, nil)
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
	w.sendReport(event.FlowEnd.Set(), f.Watch, uint16(w.table.Hash(&f.Key)), now)
}

// fillMain makes the sink's own metadata the main contents of r. A packet of
// INT-MX says itself what it wants of every node; what of it the sink cannot
// provide is left out. What its source inserted for a domain that is configured is
// copied, with its bits (INT 2.1, section "INT-MX Header Format", way b).
func (w *Worker) fillMain(r *report.Individual, info *inthdr.Info, frame []byte) {
	rules := &w.rules.Report
	r.RepType, r.RepMdBits, r.DomainSpecificID = report.INT, rules.MdBits&w.provided, info.DomainID
	r.DSMdBits = 0
	switch {
	case info.Type == inthdr.MX:
		r.RepMdBits = info.Bitmap & w.provided
	case rules.MdBits == 0 && rules.Domain == 0:
		r.RepType = report.InnerOnly
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

// sendReport appends w.individual to the open report packet of every
// collector of the watch.
func (w *Worker) sendReport(set event.Set, watch uint8, entropy uint16, now int64) {
	r := &w.individual
	rules := &w.rules.Report
	r.TrackedFlow = true
	sent := false
	for c, mask := 0, w.rules.Watches[watch].Collectors; mask != 0; c, mask = c+1, mask>>1 {
		if mask&1 != 0 && w.outboxes[c].add(rules.Format, r, entropy, now) {
			sent = true
		}
	}
	if sent {
		w.countEvents(set)
	}
}
