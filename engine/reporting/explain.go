// Explanations: what a report says of its flow, and why it was sent; of one report, of a run.

package reporting

import (
	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/report"
	"intsink/flows"
)

// explain adds the Explanation of s to the individual report, as TLVs.
func (x *Reporter) explain(s *Subject) {
	x.explainFlow(s.Set, s.Trigger, s.Flow)
	if s.Flow == nil || s.Set.Has(event.Drop) {
		x.explanation.Drops = s.Drops
	}
	x.individual.Explain(&x.explanation, x.tlvs[:])
}

// explainFlow makes the Explanation of a report about flow f, nil where there is none.
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

// explainEach writes what differs in the Explanations of packets from to to-1 of p, whose reports
// by t are b. Of most flows only the totals do.
func (x *Reporter) explainEach(b []byte, t *report.Template, p *Run, from, to int) {
	at, shown, size := t.Explained(), -1, 0
	all := p.Set&explainedByPacket != 0
	for k := from; k < to; k++ {
		if n := len(p.Inner[k&(mbuf.MaxBurst-1)]); n != shown {
			shown, size = n, t.Size(n)
		}
		if f := p.Flows[p.of(k)]; all || f.HasCold() {
			x.explainOne(b[at:], p, k)
		} else {
			packets, bytes := f.Totals()
			report.PutTotals(b[at:], packets, bytes)
		}
		b = b[size:]
	}
}

// explainedByPacket are the events whose reports say more than totals, whatever the flow.
const explainedByPacket = event.Triggered | 1<<event.Loss

// explainOne writes the Explanation of packet k.
//
//go:noinline
func (x *Reporter) explainOne(b []byte, p *Run, k int) {
	j := p.of(k)
	x.explainFlow(p.Set, p.Triggers[j], p.Flows[j])
	x.explanation.Put(b)
}
