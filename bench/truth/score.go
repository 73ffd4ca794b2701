package truth

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// Sink is a sink whose reports are compared with the model.
type Sink interface {
	// Advance moves the time to now and returns the reports that no packet caused.
	Advance(now int64) []Report
	// Packet takes a packet and returns the reports of it.
	Packet(k *Packet, frame []byte) []Report
}

// Report is a report as a Sink saw it.
type Report struct {
	Key       string   // the flow's, see KeyOf
	Time      int64    // time of the packet in the report
	Events    []string // what it was sent for
	Congested bool     // Q
	Dropped   bool     // D
	Tracked   bool     // F
	Drops     uint32   // what a report of a drop counts
}

// Class is the score of one event.
type Class struct{ Expected, Right, Missing, False, Open int }

// Result is the score of a trace.
type Result struct {
	Packets, Reports, Flows int
	Classes                 map[string]*Class
	Other                   int // faults that belong to no event: a wrong packet, two reports of one
	Faults                  []string

	scenes map[string]bool // scenes with a fault that was shown
}

// maxFaults is how many faults are shown, the first of each scene's first flow.
const maxFaults = 40

// Run plays t to the sink and to the model, and compares their reports.
func Run(t *Trace, m *Model, sink Sink) (*Result, error) {
	r := &Result{Classes: map[string]*Class{}, scenes: map[string]bool{}}
	for e := range m.enabled {
		r.Classes[e] = &Class{}
	}
	for k := t.Next(); k != nil; k = t.Next() {
		frame, err := k.Frame()
		if err != nil {
			return r, fmt.Errorf("%v: %w", k, err)
		}
		r.Packets++
		r.timers(m, k.Time, sink.Advance(k.Time))
		e := m.Packet(k)
		r.packet(m, k, e, sink.Packet(k, frame))
	}
	r.Flows = int(t.flows)
	return r, nil
}

// timers judges the reports that timers caused before the packet at now.
func (r *Result) timers(m *Model, now int64, reports []Report) {
	for _, x := range reports {
		r.Reports++
		event, fault := m.Timer(now, x.Key)
		if fault == "" && !slices.Equal(x.Events, []string{event}) {
			fault = fmt.Sprintf("expected %s", event)
		}
		if fault == "" {
			c := r.Classes[event]
			c.Expected, c.Right = c.Expected+1, c.Right+1
			continue
		}
		r.false(x.Events)
		r.fault("timer "+fault, fmt.Sprintf("at %.6f s: report without a packet of flow %s for %v: %s\n%s",
			float64(now-Epoch)/1e9, x.Key, x.Events, fault, m.State(x.Key)))
	}
	for _, x := range m.Overdue(now) {
		c := r.Classes[x.Event]
		c.Expected, c.Missing = c.Expected+1, c.Missing+1
		r.fault("overdue "+x.Event, fmt.Sprintf("at %.6f s: no %s of flow %s, due at %.6f s\n",
			float64(now-Epoch)/1e9, x.Event, x.Key, float64(x.Due-Epoch)/1e9))
	}
}

func (r *Result) false(events []string) {
	for _, e := range events {
		r.class(e).False++
	}
	if len(events) == 0 {
		r.Other++
	}
}

func (r *Result) class(e string) *Class {
	if r.Classes[e] == nil {
		r.Classes[e] = &Class{}
	}
	return r.Classes[e]
}

// packet judges the reports of k.
func (r *Result) packet(m *Model, k *Packet, e *Expect, reports []Report) {
	r.Reports += len(reports)
	var got []string
	var faults []string
	for i, x := range reports {
		switch {
		case i > 0 && !(i == 1 && slices.Equal(x.Events, []string{Drop})): // a packet may have a second report if it was dropped
			faults = append(faults, "more than one report")
		case x.Key != k.Flow.Key() || x.Time != k.Time:
			faults = append(faults, fmt.Sprintf("the report shows flow %s, %d ns from here", x.Key, x.Time-k.Time))
		case x.Congested != slices.Contains(x.Events, Congestion):
			faults = append(faults, fmt.Sprintf("Q is %v", x.Congested))
		case x.Dropped != slices.Contains(x.Events, Drop) || x.Dropped && x.Drops != e.Drops:
			faults = append(faults, fmt.Sprintf("D is %v, %d drops, want %d", x.Dropped, x.Drops, e.Drops))
		case x.Tracked == (k.NoINT || k.Unsound):
			faults = append(faults, fmt.Sprintf("F is %v", x.Tracked))
		}
		got = append(got, x.Events...)
	}
	r.Other += len(faults)
	for _, event := range e.Must {
		c := r.class(event)
		c.Expected++
		if slices.Contains(got, event) {
			c.Right++
		} else {
			c.Missing++
			faults = append(faults, event+" is missing")
		}
	}
	for _, event := range e.May {
		r.class(event).Open++
	}
	for _, event := range got {
		if !slices.Contains(e.Must, event) && !slices.Contains(e.May, event) {
			r.class(event).False++
			faults = append(faults, event+" is too much")
		}
	}
	if len(faults) > 0 {
		r.fault(k.Scene+" "+faults[0], fmt.Sprintf("%s\n  %v\n  expected %v, perhaps %v, reported %v\n  %s\n  the flow after it: %s",
			strings.Join(faults, ", "), k, e.Must, e.May, got, strings.Join(e.Why, "\n  "), m.State(k.Flow.Key())))
	}
	m.Decide(got)
}

// fault counts a fault, and keeps the text of the first of a kind.
func (r *Result) fault(kind, text string) {
	if !r.scenes[kind] && len(r.Faults) < maxFaults {
		r.scenes[kind] = true
		r.Faults = append(r.Faults, text)
	}
}

// Recall returns the share of the expected reports that were made.
func (r *Result) Recall() float64 {
	expected, right := 0, 0
	for _, c := range r.Classes {
		expected, right = expected+c.Expected, right+c.Right
	}
	if expected == 0 {
		return 0
	}
	return float64(right) / float64(expected)
}

// False returns how many events were reported that should not have been.
func (r *Result) False() int {
	n := r.Other
	for _, c := range r.Classes {
		n += c.False
	}
	return n
}

// Print writes the score as a table.
func (r *Result) Print(w io.Writer) {
	fmt.Fprintf(w, "%d packets, %d flows, %d reports: recall %.6f, %d false\n", r.Packets, r.Flows, r.Reports, r.Recall(), r.False())
	fmt.Fprintf(w, "%-16s %9s %9s %8s %8s %8s\n", "event", "expected", "reported", "missing", "false", "open")
	var names []string
	for e := range r.Classes {
		names = append(names, e)
	}
	sort.Strings(names)
	for _, e := range names {
		c := r.Classes[e]
		fmt.Fprintf(w, "%-16s %9d %9d %8d %8d %8d\n", e, c.Expected, c.Right, c.Missing, c.False, c.Open)
	}
}
