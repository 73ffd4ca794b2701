// Problem: the JSON of a problem, in the API, the event stream and the body of a webhook.

package problem

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Problem is something that is wrong, or was.
type Problem struct {
	ID       uint64     `json:"id"` // counts up, also over a restart
	Kind     Kind       `json:"kind"`
	Severity Severity   `json:"severity"`
	Place    []Part     `json:"place"`
	What     string     `json:"what"` // for people
	Since    time.Time  `json:"since"`
	Until    *time.Time `json:"until"`               // null: it is wrong now
	Times    int        `json:"times,omitempty"`     // how often it began since, where it came and went
	Before   int64      `json:"before_ns,omitempty"` // how long it lasted in all its times before the last one
	Again    *time.Time `json:"again,omitempty"`     // when it began the last time; null: it never ended in between
	Ended    string     `json:"ended,omitempty"`     // why it ended, where not because all is well again
	Value    *float64   `json:"value"`               // null: there is no number to it
	Usual    *float64   `json:"usual"`               // what value is otherwise; null: nothing, or nobody knows
	Unit     string     `json:"unit,omitempty"`      // of value and usual
	Evidence Evidence   `json:"evidence"`
	Todo     string     `json:"todo"` // what to do, or to look at

	network, known bool    // packets told of it; its place had been known for long
	began          string  // where it began; "": nobody has asked yet
	grown          *growth // of a counter, since a Mark; nil: it is a state, or nobody compares
}

// Lasted is how long p was wrong until now, or its end: the calm between its times left out, where its end was told in between.
func (p *Problem) Lasted(now time.Time) time.Duration {
	if p.Until != nil {
		now = *p.Until
	}
	if p.Again != nil {
		return max(0, time.Duration(p.Before)+now.Sub(*p.Again))
	}
	return max(0, now.Sub(p.Since))
}

// Told says who tells of p: the sink itself, or packets; and whether its place was known before it began. Whoever sends packets can
// make up places, so what has no room for all takes these last.
func (p *Problem) Told() (byPackets, known bool) { return p.network, p.known }

// Part is a step to the place of a problem: the largest first, such as a node, then its queue.
type Part struct {
	What string `json:"what"`           // "collector", "link", "node", ...
	ID   string `json:"id"`             // as the configuration or the network calls it
	Name string `json:"name,omitempty"` // as block names does
}

// Evidence is what shows that a problem is one.
type Evidence struct {
	Why   string   `json:"why,omitempty"`   // what the part that is in trouble says itself
	Flows []string `json:"flows,omitempty"` // some that it happened to; ids as in /api/v1/flows
	From  string   `json:"from,omitempty"`  // of path_changed: nodes of the way before, and now
	To    string   `json:"to,omitempty"`

	Episode  uint32    `json:"episode,omitempty"`  // of queue_congested: its id in /api/v1/episodes
	Culprits []Culprit `json:"culprits,omitempty"` // who fills the queue, the most bytes first; a host in front of its flows, where it fills it by many
	Victims  []Victim  `json:"victims,omitempty"`  // who waits in it, the longest first
	Hosts    []Share   `json:"hosts,omitempty"`    // the same by host and by service, of a sample of its packets
	Services []Share   `json:"services,omitempty"`
	Now      []Culprit `json:"now,omitempty"`         // who fills it in its last ten seconds
	Bytes    uint64    `json:"bytes,omitempty"`       // of all flows in it
	Others   uint64    `json:"other_bytes,omitempty"` // of those without a record: the flow table had no room
	AddedNs  uint64    `json:"added_ns,omitempty"`    // of all that wait
	FullNs   int64     `json:"full_ns,omitempty"`     // how long it was congested, all bursts together
}

// Share is what a host, or a service, has of a congested queue.
type Share struct {
	Name    string  `json:"name"` // an address; or a protocol and a port, such as tcp/443
	Share   float64 `json:"share"`
	AddedNs uint64  `json:"added_ns"` // that its packets waited
}

// Culprit is a flow, or a host, with many bytes in a congested queue.
type Culprit struct {
	Flow  string  `json:"flow,omitempty"`
	Host  string  `json:"host,omitempty"`
	Bytes uint64  `json:"bytes"` // in this episode
	Share float64 `json:"share"` // of all bytes of the episode
}

// Name is the flow, or the host.
func (c *Culprit) Name() string { return cmp.Or(c.Flow, "host "+c.Host) }

// Victim is a flow whose packets are longer in a congested queue than is usual.
type Victim struct {
	Flow    string `json:"flow"`
	AddedNs uint64 `json:"added_ns"` // by all its packets together
}

// Severity says how much of a hurry there is.
type Severity string

// The severities. Error: packets, reports or the sink's work are lost now, and only somebody can end that.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// at is where p began, which is asked for of all that ended.
func (p *Problem) at() string {
	if p.began == "" {
		p.began = where(p.Place)
	}
	return p.began
}

// where is the place as the log, the API and a key have it: without names.
func where(place []Part) string {
	var b strings.Builder
	for i, p := range place {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.What + " " + p.ID)
	}
	return b.String()
}

// Where is the place for people: names where there are, with the id behind it.
func (p *Problem) Where() string {
	var all []string
	for _, x := range p.Place {
		text := x.ID
		if x.Name != "" {
			text = fmt.Sprintf("%s (%s)", x.Name, x.ID)
		}
		if x.What == "from" || x.What == "to" {
			all = append(all, "node "+text)
		} else {
			all = append(all, x.What+" "+text)
		}
	}
	if len(all) == 2 && p.Place[0].What == "from" {
		if all[0] == all[1] {
			return all[0]
		}
		return "between " + all[0] + " and " + all[1]
	}
	return strings.Join(all, ", ")
}

// FlowsText lists the flows of the evidence, and says how many more there are.
func (p *Problem) FlowsText() string {
	text := strings.Join(p.Evidence.Flows, " ")
	switch n := len(p.Evidence.Flows); {
	case n > 0 && p.Unit == "flows" && p.Value != nil && int(*p.Value) > n:
		text += fmt.Sprintf(" and %d more", int(*p.Value)-n)
	case n == MostFlows && p.Unit != "flows":
		text += " and perhaps more"
	}
	return text
}

// flowsOf are what the flows of a kind's evidence have to do with it.
var flowsOf = map[Kind]string{
	SlowHop: "flows that cross it: ", SlowSegment: "flows that cross it: ", QueueCongested: "flows in it: ", LossBetween: "flows that lost some: ", PathChanged: "flows that left it: ", NodeGone: "flows that left it: ", FlowsSilent: "flows that fell silent: ",
}

// FlowsLine is FlowsText with what these flows have to do with it, "" where there are none, or where it is known who fills a queue and
// who waits in it.
func (p *Problem) FlowsLine() string {
	if text := p.FlowsText(); text != "" && len(p.Evidence.Culprits) == 0 {
		return flowsOf[p.Kind] + text
	}
	return ""
}

// Amount is the value beside what is usual, "" where there is none.
func (p *Problem) Amount() string {
	if p.Value == nil {
		return ""
	}
	text := amount(*p.Value, p.Unit)
	if p.Kind == SlowHop || p.Kind == SlowSegment {
		text += " lately" // of its last slow packets; elsewhere stand medians and maxima
	}
	if p.Kind == LossBetween {
		text += " lost"
	}
	if p.Kind == UsualChanged && p.Usual != nil {
		return fmt.Sprintf("%s, %s x the %s of before", text, ratio(*p.Value/max(*p.Usual, 1)), amount(*p.Usual, p.Unit))
	}
	if p.Usual != nil && *p.Usual > 0 {
		text += fmt.Sprintf(", %s x its usual %s", ratio(*p.Value / *p.Usual), amount(*p.Usual, p.Unit))
	}
	return text
}

func ratio(r float64) string {
	if r < 10 {
		return fmt.Sprintf("%.1f", r)
	}
	return fmt.Sprintf("%.0f", r)
}

// Latency is a time in nanoseconds as people read it, to three digits.
func Latency(ns float64) string { return amount(ns, "ns") }

func amount(v float64, unit string) string {
	if unit == "ns" {
		return strings.ReplaceAll(time.Duration(v).Round(shownTo(v)).String(), "µs", "us")
	}
	return strings.TrimSuffix(fmt.Sprintf("%.0f %s", v, unit), " ")
}

// shownTo leaves three digits of so many nanoseconds.
func shownTo(ns float64) time.Duration {
	step := time.Duration(1)
	for ; ns >= 1000; ns /= 10 {
		step *= 10
	}
	return step
}
