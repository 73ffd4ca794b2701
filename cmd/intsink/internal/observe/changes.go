package observe

import (
	"intsink/cmd/intsink/internal/status"
	"log/slog"
	"sort"
	"time"
)

const (
	lookEvery = time.Second      // how often Changes looks
	calmAfter = 10 * time.Second // without growth, a loss is over
)

// Changes writes one log line when something begins to be lost, or a gateway or a
// worker goes away, and one when that is over; none in between, however much it is.
type Changes struct {
	log    func() *slog.Logger // asked for each line: a reload changes it
	losses map[string]*episode // by key of a loss
	states map[string]string   // by key of a state: what is wrong with it, "" if nothing
}

// episode is a counter that grows and should not.
type episode struct {
	value  uint64    // when last looked at
	before uint64    // when the episode began
	began  time.Time // zero: the counter does not grow
	grew   time.Time // when it last did
}

// loss is one counter that should not grow, as found now.
type loss struct {
	key   string
	value uint64
	begun string // what the log says at the first growth
	over  string
	attrs []any
}

// NewChanges makes a Changes that writes to what log returns.
func NewChanges(log func() *slog.Logger) *Changes {
	return &Changes{log: log, losses: map[string]*episode{}, states: map[string]string{}}
}

// Watch looks at s until done is closed.
func (c *Changes) Watch(s *Source, done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		c.look(s.status(), s.healthy(), time.Now())
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// look compares what is now with what the log said last.
func (c *Changes) look(j *status.Status, health error, now time.Time) {
	for _, l := range losses(j) {
		c.count(&l, now)
	}
	for _, x := range j.Collectors {
		if x.GatewayKnown != nil {
			wrong := ""
			if !*x.GatewayKnown {
				wrong = "it does not answer: reports are dropped; look at gateway, vlan and source of the collector"
			}
			c.state("gateway "+x.Name, "gateway", wrong, "collector", x.Name)
		}
	}
	stuck := ""
	if health != nil {
		stuck = health.Error()
	}
	c.state("workers", "workers", stuck)
}

// count logs where the counter of l begins to grow, and where it has stopped. The first
// value of a counter is where it starts from.
func (c *Changes) count(l *loss, now time.Time) {
	e, ok := c.losses[l.key]
	if !ok {
		c.losses[l.key] = &episode{value: l.value}
		return
	}
	grown := l.value > e.value
	switch {
	case grown && e.began.IsZero():
		e.before, e.began, e.grew = e.value, now, now
		c.log().Warn(l.begun, append(l.attrs, "lost", l.value-e.before)...)
	case grown:
		e.grew = now
	case !e.began.IsZero() && now.Sub(e.grew) >= calmAfter:
		c.log().Info(l.over, append(l.attrs, "lost", l.value-e.before, "for", e.grew.Sub(e.began).Round(time.Second))...)
		e.began = time.Time{}
	}
	e.value = l.value
}

// state logs where wrong begins or ends to be something. What is well at first is not
// worth a line.
func (c *Changes) state(key, what, wrong string, attrs ...any) {
	before := c.states[key]
	c.states[key] = wrong
	switch {
	case wrong != "" && before == "":
		c.log().Error(what+": trouble", append(attrs, "why", wrong)...)
	case wrong == "" && before != "":
		c.log().Info(what+": well again", attrs...)
	}
}

// losses lists the counters that should not grow.
func losses(j *status.Status) []loss {
	var all []loss
	for _, x := range j.Collectors {
		for _, reason := range sorted(x.Dropped) {
			all = append(all, loss{
				"collector " + x.Name + " " + reason, x.Dropped[reason],
				"collector: reports are being lost", "collector: reports are no longer lost", []any{"collector", x.Name, "reason", reason},
			})
		}
	}
	for _, l := range j.Links {
		for _, d := range l.Directions {
			for _, reason := range sorted(d.Dropped) {
				if reason == "int_discard" || reason == "mitigation" || reason == "tap" {
					continue // asked for, by INT or by a rule, and what a tap is for
				}
				all = append(all, loss{
					"link " + l.Name + " " + d.Direction + " " + reason, d.Dropped[reason],
					"link: packets are being dropped", "link: packets are no longer dropped", []any{"link", l.Name, "direction", d.Direction, "reason", reason},
				})
			}
		}
	}
	for _, p := range j.Ports {
		all = append(all,
			loss{"port " + p.Name + " missed", p.RxMissed, "port: its queue is full, packets are being missed", "port: no more packets are missed", []any{"port", p.Name}},
			loss{"port " + p.Name + " nombuf", p.RxNoMbuf, "port: no mbuf is free, packets are being lost; raise dpdk.mbufs", "port: mbufs are free again", []any{"port", p.Name}})
	}
	for _, w := range j.Workers {
		all = append(all, loss{"worker " + w.Name + " refused", w.Refusals, "flows: a flood, new flows are not being watched", "flows: new flows are watched again", []any{"worker", w.Name}})
	}
	return all
}

// sorted lists the names of counters in a fixed order.
func sorted(m map[string]uint64) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
