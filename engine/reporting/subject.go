// Subject: what one report is about; Report builds it field by field (main contents, inner
// contents), and sends it to each collector.

package reporting

import (
	"math/bits"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/report"
	"intsink/flows"
)

// Subject describes one report: its events and collectors, and the packet or flow that it is about.
type Subject struct {
	Set        event.Set
	Priority   event.Priority
	Collectors uint64      // bit i: collector i gets a report
	Flow       *flows.Flow // nil: the packet belongs to none
	HasINT     bool        // such a packet has INT, which the report shows
	Entropy    uint16      // hash that spreads report packets over paths; one value for a flow

	Info       *inthdr.Info // INT of the packet; nil: it has none that can be read, or there is no packet
	Source     []byte       // INT-MX: metadata that the source inserted for SourceBits of its domain
	SourceBits uint16
	InType     report.InType
	Inner      []byte // the bytes of the packet that the report shows
	INTEnd     int    // where INT ends in the packet, from where Inner begins; 0: it has none

	Trigger  event.Trigger    // of Set & event.Triggered
	Episodes []report.Episode // that ended; they go with an Explanation, and Report may shorten them
	Drops    uint32           // packets since the last report of a drop
	Dropped  bool             // the sink dropped, or is about to drop, the packet
	Reason   uint8            // of that: one of report.DropReasons
}

// Report builds the report of s field by field, and sends it to each of its collectors whose
// budget allows it.
func (x *Reporter) Report(s *Subject, now int64) {
	x.fill(s)
	x.send(s, now)
}

// fill builds the individual report of s in x.individual.
func (x *Reporter) fill(s *Subject) {
	x.fillMain(s)
	r := &x.individual
	r.InType, r.Inner, r.INTEnd = s.InType, s.Inner, s.INTEnd
	r.TrackedFlow, r.Dropped, r.CongestedQueue = s.Flow != nil || s.HasINT, s.Dropped, s.Set.Has(event.Congestion)
	if x.rules.Explain {
		x.explain(s)
	}
}

var noINT inthdr.Info

// fillMain makes the sink's own metadata the main contents of the report. A packet of INT-MX
// names the values that it wants of every node; those that the sink cannot provide are left
// out. Metadata that its source inserted for a configured domain is copied, with its bits
// (INT 2.1, section "INT-MX Header Format", way b).
func (x *Reporter) fillMain(s *Subject) {
	r, rules, info := &x.individual, x.rules, s.Info
	if info == nil {
		info = &noINT
	}
	r.RepType, r.RepMdBits, r.DomainSpecificID = report.INT, rules.MdBits&x.provided, info.DomainID
	r.DSMdBits = 0
	switch {
	case info.Type == inthdr.MX:
		r.RepMdBits = info.Bitmap & x.provided
	case rules.MdBits == 0 && rules.Domain == 0:
		r.RepType = report.InnerOnly
	}
	if s.Dropped {
		r.RepType, r.RepMdBits = report.INT, r.RepMdBits|report.MdDropReason
	}
	x.metadata.DropReason = s.Reason
	n := x.metadata.Put(x.mdBytes[:], r.RepMdBits)
	if rules.Domain != 0 {
		r.DomainSpecificID = rules.Domain
	} else if len(s.Source) > 0 && n+len(s.Source) <= report.MaxMetadata {
		r.DSMdBits = s.SourceBits
		n += copy(x.mdBytes[n:], s.Source)
	}
	r.Metadata = x.mdBytes[:n]
	r.Own = &x.metadata
}

// send appends the report to the open report packet of each collector of s, and counts it as
// reported, shed or dropped.
func (x *Reporter) send(s *Subject, now int64) {
	r, format := &x.individual, x.rules.Format
	sent, shed := false, false
	for c, mask := 0, s.Collectors; mask != 0; c, mask = c+1, mask>>1 {
		if mask&1 == 0 {
			continue
		}
		o := &x.outboxes[c]
		if o.limit.on && !o.admits(format, r, s.Priority, now) {
			countEvents(&o.counters.Shed, s.Set)
			shed = true
		} else if o.add(format, r, s.Entropy, now) {
			sent = true
		}
	}
	if sent {
		countEvents(&x.counters.Reported, s.Set)
		x.counters.News[s.Set.News()]++
	} else if shed {
		countEvents(&x.counters.Shed, s.Set)
		if s.Flow != nil {
			s.Flow.Cold().Shed++
		}
	}
	if s.Set.Has(event.Refresh) {
		x.refreshes.note(shed)
	}
}

// countEvents adds the events of one report to c.
func countEvents(c *[event.NumEvents]uint64, set event.Set) { addEvents(c, set, 1) }

// addEvents adds the events of n reports that are all about set to c.
func addEvents(c *[event.NumEvents]uint64, set event.Set, n int) {
	for ; set != 0; set &= set - 1 {
		c[event.Event(bits.TrailingZeros32(uint32(set)))%event.NumEvents] += uint64(n)
	}
}
