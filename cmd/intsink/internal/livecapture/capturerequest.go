// Request: the JSON that begins a capture; checks it and compiles it to the workers' filter.

package livecapture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"intsink/cmd/intsink/internal/control"
	"intsink/cmd/intsink/internal/packetmatch"
	"intsink/conf"
	"intsink/engine/aside/capture"
	"intsink/engine/burst"
	"intsink/engine/event"
	"intsink/engine/selector"
	"intsink/engine/wire/inthdr"
)

// Request is the JSON of POST /api/v1/capture. Packets that fit all fields that are given are
// captured.
type Request struct {
	Stage      string            `json:"stage,omitempty"` // "in", "out", "both" (default)
	Links      []string          `json:"links,omitempty"`
	Watches    []string          `json:"watches,omitempty"`
	Events     []string          `json:"events,omitempty"`
	Reasons    []string          `json:"reasons,omitempty"` // of drops and of malformed INT
	Match      packetmatch.Match `json:"match,omitzero"`
	BothWays   bool              `json:"both_ways,omitempty"`   // packets in the opposite direction of match, too
	Count      int               `json:"count,omitempty"`       // the capture ends when it has so many packets; 0: no bound
	Seconds    float64           `json:"seconds,omitempty"`     // and after so many seconds
	Rate       float64           `json:"rate,omitempty"`        // most packets a second
	SnapLength int               `json:"snap_length,omitempty"` // bytes of a packet; 0: all
	Before     float64           `json:"before,omitempty"`      // packets that the flight recorder took in the last so many seconds, in place of those that come
	Episode    uint32            `json:"episode,omitempty"`     // of these, packets that passed a queue in the episode of this number; 0: all
}

// Bounds and defaults of a request.
const (
	defaultSeconds = 60
	maxSeconds     = 3600
	defaultRate    = 10_000
	maxRate        = 1_000_000
	maxBefore      = 86400
)

// decode reads a request; an empty body asks for everything.
func decode(body io.Reader) (*Request, error) {
	var q Request
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	if errors.Is(err, io.EOF) {
		return &q, nil
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows it")
		}
	}
	if err != nil {
		return nil, fmt.Errorf(`the body must be JSON, such as {"watches": ["web"], "stage": "both", "count": 100, "seconds": 10}: %w`, err)
	}
	return &q, nil
}

// compile checks q against the configuration in force, fills in defaults, and returns the
// filter for the workers.
func (q *Request) compile(c *conf.Config) (f capture.Filter, err error) {
	if f, err = q.filter(); err != nil {
		return f, err
	}
	if f.Links, err = linksNamed(q.Links, c); err != nil {
		return f, err
	}
	names := watchNames(c)
	for _, name := range q.Watches {
		if !slices.Contains(names, name) {
			return f, control.WrongField("watches", ": there is no watch %.60q: %s", name, among(names))
		}
	}
	f.Watches = q.Watches
	return f, nil
}

// filter does the part of compile that needs no configuration.
func (q *Request) filter() (f capture.Filter, err error) {
	if err := q.checkNumbers(); err != nil {
		return f, err
	}
	f.SnapLength = q.SnapLength
	if q.SnapLength == 0 {
		f.SnapLength = capture.MaxSnap
	}
	stages := map[string]capture.Stages{"": capture.Both, "both": capture.Both, "in": capture.In, "out": capture.Out}
	stage, ok := stages[q.Stage]
	if !ok {
		return f, control.WrongField("stage", ` = %.40q: must be "in" (as packets came), "out" (as they left) or "both"`, q.Stage)
	}
	f.Stages = stage
	if err := q.compileEvents(&f); err != nil {
		return f, err
	}
	if err := q.compileReasons(&f); err != nil {
		return f, err
	}
	f.Match, err = q.compileMatch()
	return f, err
}

func (q *Request) checkNumbers() error {
	switch {
	case q.Count < 0:
		return control.WrongField("count", " = %d: must be a number of packets, or 0 for no bound", q.Count)
	case !(q.Seconds >= 0 && q.Seconds <= maxSeconds):
		return control.WrongField("seconds", " = %g: must be more than 0 and at most %d", q.Seconds, maxSeconds)
	case !(q.Rate >= 0 && q.Rate <= maxRate):
		return control.WrongField("rate", " = %g: must be 1 to %d packets a second", q.Rate, maxRate)
	case q.Rate != 0 && q.Rate < 1:
		return control.WrongField("rate", " = %g: must be 1 to %d packets a second", q.Rate, maxRate)
	case q.SnapLength != 0 && (q.SnapLength < 14 || q.SnapLength > capture.MaxSnap):
		return control.WrongField("snap_length", " = %d: must be 14 to %d bytes, or 0 for all of a packet", q.SnapLength, capture.MaxSnap)
	case !(q.Before >= 0 && q.Before <= maxBefore):
		return control.WrongField("before", " = %g: must be more than 0 seconds and at most %d", q.Before, maxBefore)
	case q.Before == 0 && q.Episode != 0:
		return control.WrongField("episode", " = %d: goes with before: live packets are not known by the number of an episode", q.Episode)
	case q.Before > 0 && (q.Seconds != 0 || q.Rate != 0):
		return control.WrongField("before", " = %g: goes without seconds and rate: what was recorded is there at once", q.Before)
	}
	if q.Seconds == 0 {
		q.Seconds = defaultSeconds
	}
	if q.Rate == 0 {
		q.Rate = defaultRate
	}
	return nil
}

func linksNamed(wanted []string, c *conf.Config) (at []int, err error) {
	names := c.LinkNames()
	for _, name := range wanted {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, control.WrongField("links", ": there is no link or tap %.60q: %s", name, among(names))
		}
		at = append(at, i)
	}
	return at, nil
}

func watchNames(c *conf.Config) (names []string) {
	for i := range c.Watches {
		names = append(names, c.Watches[i].Name)
	}
	return names
}

func among(names []string) string {
	if len(names) == 0 {
		return "there is none"
	}
	return "must be " + strings.Join(names, ", ")
}

// EventNames returns the events for which packets can be captured: those that a packet causes.
func EventNames() (names []string) {
	for e := range event.NumEvents {
		if e := event.Event(e); e != event.FlowEnd {
			names = append(names, e.String())
		}
	}
	return names
}

// compileEvents sets the events of f. It compiles the event drop to all reasons of drops instead,
// because most drops are known only after all events of the packet.
func (q *Request) compileEvents(f *capture.Filter) error {
	for _, name := range q.Events {
		e, ok := event.Named(name)
		switch {
		case !ok || e == event.FlowEnd:
			return control.WrongField("events", ": no packet shows %.60q: %s", name, among(EventNames()))
		case e != event.Drop:
			f.Events |= e.Set()
		case len(q.Events) > 1 || len(q.Reasons) > 0:
			return control.WrongField("events", `: "drop" goes alone: it stands for every reason for which packets are dropped`)
		default:
			f.Dropped = (1<<burst.NumDropReasons - 1) &^ (1 << burst.DropTap)
		}
	}
	return nil
}

// ReasonNames returns the reasons of drops, then those of malformed INT.
func ReasonNames() (names []string) {
	for r := range burst.NumDropReasons {
		names = append(names, r.String())
	}
	for r := inthdr.ReasonNone + 1; r < inthdr.NumReasons; r++ {
		names = append(names, r.String())
	}
	return names
}

func (q *Request) compileReasons(f *capture.Filter) error {
	for _, name := range q.Reasons {
		switch i := slices.Index(ReasonNames(), name); {
		case i < 0:
			return control.WrongField("reasons", " = %.60q: %s", name, among(ReasonNames()))
		case i < int(burst.NumDropReasons):
			f.Dropped |= 1 << i
		default:
			f.Malformed |= 1 << (i - int(burst.NumDropReasons) + 1)
		}
	}
	return nil
}

func (q *Request) compileMatch() (*selector.Table, error) {
	if q.Match.Empty() {
		if q.BothWays {
			return nil, control.WrongField("both_ways", ": there is nothing to take the opposite direction of: name a source, destination, protocol, port, device id or MAC address, too")
		}
		return nil, nil
	}
	m, err := q.Match.Compile()
	if err != nil {
		return nil, err
	}
	matches := []selector.Match{m}
	if q.BothWays {
		back := m
		back.Source, back.Destination, back.SourcePort, back.DestinationPort = m.Destination, m.Source, m.DestinationPort, m.SourcePort
		matches = append(matches, back)
	}
	return selector.Of(matches...), nil
}
