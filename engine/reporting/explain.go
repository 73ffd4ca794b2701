// Makes the Explanations of reports (numbers of the flow, why it is reported): of one report, of
// a run.

package reporting

import (
	"math"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// explain adds the Explanation of s to the individual report, as TLVs.
func (x *Reporter) explain(s *Subject) {
	x.explainFlow(s.Set, s.Trigger, s.Flow)
	if s.Flow == nil || s.Set.Has(event.Drop) {
		x.explanation.Drops = s.Drops
	}
	x.individual.Explain(&x.explanation, x.tlvs[:], x.fit(s.Episodes)...)
}

// leastShown is how many bytes of the packet are shown beside summaries of episodes: as far as its ports.
const leastShown = 80

// fit shortens episodes until they fit into a report packet of each collector, beside everything else of the report.
// Those that do not fit at all are left out, the last ones first.
func (x *Reporter) fit(episodes []report.Episode) []report.Episode {
	if len(episodes) == 0 {
		return nil
	}
	least := math.MaxInt
	for i := range x.outboxes {
		least = min(least, x.outboxes[i].maxPayload-x.outboxes[i].head)
	}
	r := &x.individual
	least -= report.GroupHeaderLen + report.MostBeforeInner + len(r.Metadata) + report.TLVLen(report.ExplanationLen) + report.TLVLen(min(leastShown, len(r.Inner)))
	for i := range episodes {
		e := &episodes[i]
		if !e.Shorten((least - report.TLVLen(0)) &^ 3) {
			return episodes[:i]
		}
		least -= report.TLVLen(e.Len())
	}
	return episodes
}

// explainFlow makes the Explanation of a report about flow f; f is nil if there is no flow.
func (x *Reporter) explainFlow(set event.Set, trigger event.Trigger, f *flows.Flow) {
	e := &x.explanation
	*e = report.Explanation{Events: uint32(set), Trigger: report.NoTrigger}
	if set&event.Triggered != 0 {
		e.Trigger = report.Trigger(trigger)
	}
	if f == nil {
		return
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

// explainEach writes the fields that differ between the Explanations of packets from to to-1 of p
// into b, which has their reports by template t. For most flows that is the totals only.
func (x *Reporter) explainEach(b []byte, t *report.Template, p *Run, from, to int) {
	if p.Set&explainedByPacket == 0 {
		shown := len(p.Inner[from&(mbuf.MaxBurst-1)])
		size := t.Size(shown)
		n := putTotals(b[t.Explained():], p, from, to, shown, size)
		if from += n; from == to {
			return
		}
		b = b[n*size:]
	}
	x.explainRest(b, t, p, from, to)
}

// explainRest does as explainEach for packets of any flow, one by one.
//
//go:noinline
func (x *Reporter) explainRest(b []byte, t *report.Template, p *Run, from, to int) {
	for k := from; k < to; k++ {
		j := p.of(k)
		x.explainFlow(p.Set, p.Triggers[j], p.Flows[j])
		x.explanation.Put(b[t.Explained():])
		b = b[t.Size(len(p.Inner[k&(mbuf.MaxBurst-1)])):]
	}
}

// explainedByPacket are the events whose Explanations hold more than totals for every flow.
const explainedByPacket = event.Triggered | 1<<event.Loss

// putTotals writes the totals of the flows of packets from, from+1 and so on into their
// Explanations; the first is at the start of b, each next one size bytes further. It stops at
// a flow whose Explanation holds more than totals, and at a packet that is not shown at the
// length of the first, and returns how many it wrote.
//
//go:noinline
func putTotals(b []byte, p *Run, from, to, shown, size int) (n int) {
	for k := from; k < to; k++ {
		f := p.Flows[p.of(k)]
		if f.HasCold() || len(p.Inner[k&(mbuf.MaxBurst-1)]) != shown || len(b) < report.ExplanationLen {
			break
		}
		packets, bytes := f.Totals()
		report.PutTotals(b, packets, bytes)
		if n++; uint(size) >= uint(len(b)) { // the last one
			break
		}
		b = b[size:len(b):len(b)]
	}
	return n
}
