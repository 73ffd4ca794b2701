package reporting

import (
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
