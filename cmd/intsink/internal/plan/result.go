// Result: plan's JSON (rows of events and collectors, tables), and planner.result, which fills it
// with a row for each event that fired.

package plan

import (
	"fmt"

	"intsink/cmd/intsink/internal/simulate"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/reporting"
	"intsink/engine/wire/inthdr"
)

// Result is what a configuration makes of a capture; it is the JSON that plan prints.
type Result struct {
	Config  string  `json:"config"`
	Capture string  `json:"capture"`
	Seconds float64 `json:"seconds"` // first packet to last
	Packets struct {
		Received uint64 `json:"received"`
		INT      uint64 `json:"int"`

		Malformed map[string]uint64 `json:"malformed,omitempty"` // marked as INT or another format with something wrong, by reason
	} `json:"packets"`
	Flows struct {
		Watched uint64 `json:"watched"`
		Peak    uint64 `json:"peak"` // in the table, watched or not, at the end of a second
		Evicted uint64 `json:"evicted"`

		ByWatch []simulate.FlowsOfWatch `json:"by_watch"` // new flows, in the order of the watches; those that none took have no name
	} `json:"flows"`
	simulate.Seen                // whether the configuration takes it or not
	Events        []EventRow     `json:"events"` // those that occurred
	Collectors    []CollectorRow `json:"collectors"`
	Against       *Result        `json:"against,omitempty"`
	lines         []string       // of packets that are malformed, and of telemetry that is not INT
	timeline      *timeline      // nil: it was not asked for, or there was no packet
}

// Rate is a count, per second.
type Rate struct {
	Total uint64  `json:"total"`
	Mean  float64 `json:"mean_per_second"`
	Peak  uint64  `json:"peak_per_second"` // the most in one second
}

// EventRow is what became of one event.
type EventRow struct {
	Event      string            `json:"event"`
	Fired      Rate              `json:"events"`
	Reports    Rate              `json:"reports"`
	Share      float64           `json:"share_of_int_packets"` // reports to packets with INT
	Suppressed map[string]uint64 `json:"suppressed"`
}

// CollectorRow is what one collector would get.
type CollectorRow struct {
	Collector string            `json:"collector"`
	Reports   Rate              `json:"reports"`
	Packets   Rate              `json:"packets"`
	Bits      Rate              `json:"bits"`
	Share     float64           `json:"share_of_int_packets"`
	Dropped   map[string]uint64 `json:"dropped"`
	Shed      map[string]uint64 `json:"shed"` // by its budget, by event
	Cut       uint64            `json:"cut"`  // reports whose fragment ends inside of INT
}

// rate is per second of the capture; a shorter one counts as a second.
func (p *Result) rate(s *series) Rate {
	return Rate{Total: s.total, Mean: float64(s.total) / max(p.Seconds, 1), Peak: s.peak}
}

func (p *Result) share(n uint64) float64 {
	return float64(n) / float64(max(p.Packets.INT, 1))
}

// Event is the row of an event, all zero where it did not occur.
func (p *Result) Event(name string) EventRow {
	for _, e := range p.Events {
		if e.Event == name {
			return e
		}
	}
	return EventRow{Event: name}
}

// collector is the row of a collector; false: there is none of that name.
func (p *Result) collector(name string) (CollectorRow, bool) {
	for _, c := range p.Collectors {
		if c.Collector == name {
			return c, true
		}
	}
	return CollectorRow{Collector: name}, false
}

// malformed takes over what is wrong with packets, by reason; of hops without a layout a line of its own tells.
func (p *Result) malformed(by []uint64) {
	for r, n := range by {
		if reason := inthdr.Reason(r); r > 0 && n > 0 {
			if p.Packets.Malformed == nil {
				p.Packets.Malformed = map[string]uint64{}
			}
			if p.Packets.Malformed[reason.String()] = n; reason != inthdr.ReasonLayout {
				p.lines = append(p.lines, fmt.Sprintf("malformed: %d %s: %s", n, reason, reason.Doc()))
			}
		}
	}
}

// switches takes over what packets have of telemetry that is not INT, whether the configuration takes it or not.
func (p *planner) switches(out *Result) {
	out.Seen = p.Unmarked.Seen()
	out.lines = append(out.lines, p.Unmarked.Under(&p.conf.INT)...)
	if line := simulate.LayoutlessLine(&p.Snapshot().Links[0].Counters); line != "" {
		out.lines = append(out.lines, "IFA: "+line)
	}
}

// result returns all that was counted, with a row for each event that fired.
func (p *planner) result() *Result {
	c := p.Snapshot()
	l := &c.Links[0]
	out := &Result{Seconds: float64(p.Now-p.start) / 1e9, Events: []EventRow{}, Collectors: []CollectorRow{}, timeline: p.timeline}
	out.Packets.Received = l.Direction[burst.ToHost].Received
	for _, n := range l.INT {
		out.Packets.INT += n
	}
	out.malformed(l.Malformed[:])
	out.Flows.Watched, out.Flows.Peak, out.Flows.Evicted = p.fired[event.NewFlow].total, p.flows, c.Evictions
	out.Flows.ByWatch = p.WatchFlows(p.conf)
	p.switches(out)
	for e := range p.fired {
		row := EventRow{Event: event.Event(e).String(), Fired: out.rate(&p.fired[e]), Reports: out.rate(&p.reported[e])}
		row.Share = out.share(p.reported[e].total)
		row.Suppressed = map[string]uint64{}
		for r, n := range c.Detector.Suppressed[e] {
			if n > 0 {
				row.Suppressed[event.SuppressReason(r).String()] = n
			}
		}
		if n := c.Shed[e]; n > 0 {
			row.Suppressed["budget"] = n
		}
		if row.Fired.Total+row.Reports.Total > 0 || len(row.Suppressed) > 0 {
			out.Events = append(out.Events, row)
		}
	}
	for i := range p.collectors {
		s := &p.collectors[i]
		row := CollectorRow{
			Collector: p.conf.Collectors[i].Name, Share: out.share(s.reports.total),
			Reports: out.rate(&s.reports), Packets: out.rate(&s.packets), Bits: out.rate(&s.bits),
			Dropped: map[string]uint64{}, Shed: map[string]uint64{}, Cut: c.Collectors[i].Cut,
		}
		for e, n := range c.Collectors[i].Shed {
			if n > 0 {
				row.Shed[event.Event(e).String()] = n
			}
		}
		for r, n := range c.Collectors[i].Dropped {
			if n > 0 {
				row.Dropped[reporting.DropReason(r).String()] = n
			}
		}
		out.Collectors = append(out.Collectors, row)
	}
	return out
}
