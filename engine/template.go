package engine

import (
	"math/bits"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/report"
)

// intricateCollectors are those whose reports a template does not serve: they have a
// budget that looks at each, an explanation, or a format of their own.
func (w *Worker) intricateCollectors() (set uint64) {
	for c := range w.outboxes {
		if w.outboxes[c].limit.on || w.rules.Report.Explain || w.rules.Report.Format != report.Format20 {
			set |= 1 << c
		}
	}
	return set
}

// hasTemplate makes the template of the reports of INT-MD packets of a burst and a
// domain: their metadata, which are the sink's own, are the same.
func (w *Worker) hasTemplate(info *inthdr.Info) bool {
	return !w.template.IsNone() && w.templateOf == info.DomainID || w.makeTemplate(info)
}

//go:noinline
func (w *Worker) makeTemplate(info *inthdr.Info) bool {
	w.fillMain(&w.individual, info, nil, 0)
	w.individual.Dropped = false
	w.templateOf = info.DomainID
	return w.template.Make(&w.individual)
}

// reportAs is sendReport by the template, of a packet of INT-MD to collectors that are
// not intricate.
func (w *Worker) reportAs(b *burst, j int, collectors uint64) {
	i, set, sent := b.int[j], b.events[j], false
	t, inner := w.innerOf(b, i)
	v := report.VariantOf(t, set.Has(event.Congestion))
	for ; collectors != 0; collectors &= collectors - 1 {
		o := &w.outboxes[bits.TrailingZeros64(collectors)]
		if o.open.AppendAs(&w.template, v, inner) {
			o.counters.Reports++
			o.sealIfFull(b.now)
			sent = true
		} else if w.openFor(o, b, j, t, inner) {
			sent = true
		}
	}
	if sent {
		countEvents(&w.counters.Reported, set)
	}
	if set.Has(event.Refresh) {
		w.refreshes.note(false)
	}
}

// openFor is reportAs to a collector whose open packet has no room, or which has none
// open: in a new one there is room, at least for part of the fragment.
//
//go:noinline
func (w *Worker) openFor(o *outbox, b *burst, j int, t report.InType, inner []byte) bool {
	if o.open.IsOpen() {
		o.seal(b.now)
	}
	r := &w.individual
	w.fillMain(r, &b.info[b.int[j]], nil, 0)
	r.InType, r.Inner = t, inner
	r.Dropped, r.CongestedQueue, r.TrackedFlow = false, b.events[j].Has(event.Congestion), true
	return o.add(report.Format20, r, uint16(b.hashes[j]), b.now)
}
