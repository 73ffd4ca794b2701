package engine

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"intsink/engine/event"
	"intsink/engine/wire/report"
	"intsink/exporters/record"
	"intsink/exporters/record/recordtest"
)

var update = flag.Bool("update", false, "rewrite the pictures in docs/events.md")

// timeline is one picture of docs/events.md: packets that go through a worker, and
// the reports that come out of it.
type timeline struct {
	section string // of the document
	caption string // what stands above the picture; the thresholds
	rules   func(*Rules)
	unit    int64 // of the time axis, nanoseconds
	flows   bool  // the pictures of reports name the flow
	value   string
	levels  []level // of the graph, the highest first; nil: tokens only
	row     string  // what the tokens are; "": none
	counted event.Event
	steps   []moment
}

// level is a line of the graph.
type level struct {
	at        int
	name      string
	threshold bool // drawn where there are no values too
}

// moment is one packet, and how it is drawn.
type moment struct {
	at       float64 // in units of the axis
	frame    func(t *testing.T) []byte
	level    int    // of the graph
	token    string // of the row
	fromHost bool
	full     bool // the host's port takes nothing
}

// column is what happened at one time.
type column struct {
	moment
	now      int64
	reports  []string
	withheld uint64
	counted  uint64
	idle     bool // there is no packet: a timer was due
}

// play takes the steps through a worker, with timers in between. It returns a column for each
// step, and for each other time when a report left.
func (l *timeline) play(t *testing.T) []column {
	b := newBed(t, func(r *Rules) {
		r.Watches[0].Policy.Events = 0
		r.Watches[0].Policy.Thresholds = documentedThresholds()
		r.DropInterval = r.Watches[0].Policy.Thresholds.DropInterval
		r.Report.Explain, r.Report.MaxReports, r.Report.Fragment = true, 1, 256
		l.rules(r)
	})
	start := b.now
	var out []column
	for _, m := range l.steps {
		due := start + int64(m.at*float64(l.unit))
		for tick := tickPace(due - b.now); b.now+tick < due; {
			b.now += tick
			c := column{now: b.now - start, idle: true}
			if l.observe(b, &c, func() { b.Tick(b.now) }); len(c.reports) > 0 {
				out = append(out, c)
			}
		}
		b.now = due
		c := column{moment: m, now: due - start, idle: m.frame == nil}
		l.observe(b, &c, func() {
			if m.frame != nil {
				b.take(t, &m)
			}
			b.Tick(b.now)
		})
		out = append(out, c)
	}
	b.balance()
	return out
}

// tickPace is how often timers run in a gap: every millisecond, or a thousand times.
func tickPace(gap int64) int64 { return max(gap/1e9, 1) * 1e6 }

func (b *bed) take(t *testing.T, m *moment) {
	if m.full {
		b.host.Room = 0
	}
	if m.fromHost {
		b.host.RX = [][]byte{m.frame(t)}
	} else {
		b.network.RX = [][]byte{m.frame(t)}
	}
	if b.Poll() != 1 {
		t.Fatal("no packet")
	}
	b.host.Room = unlimited
}

// observe notes what f made of the worker's counters and which reports left.
func (l *timeline) observe(b *bed, c *column, f func()) {
	sum := func() (withheld, counted uint64) {
		for _, reasons := range b.detector.Counters.Suppressed {
			for _, n := range reasons {
				withheld += n
			}
		}
		return withheld, b.detector.Counters.Fired[l.counted]
	}
	withheld, counted := sum()
	f()
	c.withheld, c.counted = sum()
	c.withheld, c.counted = c.withheld-withheld, c.counted-counted
	for _, payload := range b.sealed() {
		m := recordtest.Decode(b.t, payload)
		c.reports = append(c.reports, l.describe(&m.Reports[0]))
	}
}

// describe says what a report carries: names as decode prints them.
func (l *timeline) describe(r *recordtest.Report) string {
	parts := []string{strings.Join(r.Names(), ", ")}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if l.flows && r.Has(record.KnownAddresses) {
		add("flow %c", 'a'+r.Source.As4()[3]-1)
	}
	switch {
	case r.Has(record.KnownValue | record.KnownEventNode):
		add("node_id %d, reference %d, value %d", r.EventNode, r.Reference, r.EventValue)
	case r.Has(record.KnownValue):
		add("reference %d, value %d", r.Reference, r.EventValue)
	}
	for _, name := range r.Names() {
		switch name {
		case "loss":
			add("lost %d", r.Lost)
		case "drop":
			add("drops %d, drop_reason %d %s", r.Drops, r.DropReason, report.DropReasons[r.DropReason])
		case "flow_end":
			add("packets %d, bytes %d", r.FlowPackets, r.FlowBytes)
		}
	}
	flags := ""
	for _, f := range []struct {
		on   bool
		name string
	}{{r.Dropped, "D"}, {r.Congested, "Q"}, {r.Tracked, "F"}} {
		if f.on {
			flags += " " + f.name
		}
	}
	if flags == "" {
		flags = " none"
	}
	add("bits%s", flags)
	return strings.Join(parts, "; ")
}

// TestTimelines: each picture of docs/events.md is what a worker does.
func TestTimelines(t *testing.T) {
	const path = "../docs/events.md"
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(src)
	drawn := map[string]bool{}
	for i := range timelines {
		l := &timelines[i]
		picture := l.draw(l.play(t))
		place := regexp.MustCompile("(?s)(\n## [^\n]*`" + l.section + "`[^\n]*\n.*?\n```text\n)(.*?)(```\n)")
		at := place.FindStringSubmatchIndex(doc)
		if at == nil || strings.Contains(doc[at[0]+1:at[4]], "\n## ") {
			t.Errorf("docs/events.md: section %s has no picture; it is\n%s", l.section, picture)
			continue
		}
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.SplitN(doc[at[0]+1:], "\n", 2)[0], -1) {
			drawn[name[1]] = true
		}
		if got := doc[at[4]:at[5]]; got != picture {
			if *update {
				doc = doc[:at[4]] + picture + doc[at[5]:]
				continue
			}
			t.Errorf("docs/events.md: the picture of %s is\n%s\nthe worker does (go test -update writes it)\n%s", l.section, got, picture)
		}
	}
	for e := range event.NumEvents {
		if name := event.Event(e).String(); !drawn[name] {
			t.Errorf("docs/events.md: no section with a picture is called %s", name)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
