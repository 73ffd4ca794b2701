// Changes: logs when losses begin and end, workers stop polling, gateways vanish.

package observe

import (
	"intsink/cmd/intsink/internal/status"
	"log/slog"
	"sort"
	"time"
)

const (
	lookEvery = time.Second      // how often Changes looks
	calmAfter = 10 * time.Second // without growth: then a loss may be over
	proofs    = 2                // looks at which something has to have come through: the first packet to a collector that is gone seems to get there
)

// Changes writes one log line when something begins to be lost, or a gateway or a
// worker goes away, and one when that is over; none in between, however much it is.
type Changes struct {
	log    func() *slog.Logger // asked for each line: a reload changes it
	losses map[string]*episode // by key of a loss
	states map[string]string   // by key of a state: what is wrong with it, "" if nothing

	toldEpisodes uint64 // episodes of queues that ended, so far, of which the log has
}

// episode is a counter that grows and should not.
type episode struct {
	value uint64    // when last looked at
	lost  uint64    // by which it grew in the episode
	began time.Time // zero: the counter does not grow
	grew  time.Time // when it last did

	through uint64 // of the loss, when last looked at
	proved  int    // looks since grew at which through had grown
}

// loss is one counter that should not grow, as found now.
type loss struct {
	key   string
	value uint64
	begun string // what the log says at the first growth
	over  string
	attrs []any
	count string // what the log calls the growth; "": lost

	// through counts what came through where this was lost. While it rests, nothing shows that the
	// loss is over: nobody may have tried. nil: calm is enough.
	through *uint64
}

// grown is the attribute of the log that says by how much it grew.
func (l *loss) grown(n uint64) []any {
	if l.count == "" {
		return append(l.attrs, "lost", n)
	}
	return append(l.attrs, l.count, n)
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
		j := s.status()
		c.look(j, s.healthy(), time.Now())
		losing := c.losing(j)
		s.losing.Store(&losing)
		c.tellEpisodes(s)
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// look compares the present state with the last one that the log has.
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

// losing returns what report packets are being lost for, by collector.
func (c *Changes) losing(j *status.Status) map[string]*status.Losing {
	all := map[string]*status.Losing{}
	for _, x := range j.Collectors {
		for _, reason := range sorted(x.Dropped) {
			e := c.losses[lossKey(x.Name, reason)]
			if e == nil || e.began.IsZero() {
				continue
			}
			l := all[x.Name]
			if l == nil {
				l = &status.Losing{Since: e.began}
				all[x.Name] = l
			}
			l.Reasons = append(l.Reasons, reason)
			if e.began.Before(l.Since) {
				l.Since = e.began
			}
		}
	}
	return all
}

func lossKey(collector, reason string) string { return "collector " + collector + " " + reason }

// count logs where the counter of l begins to grow, and where it has stopped. The first
// value of a counter is where it starts from.
func (c *Changes) count(l *loss, now time.Time) {
	e, ok := c.losses[l.key]
	if !ok {
		c.losses[l.key] = &episode{value: l.value}
		return
	}
	grown := l.value > e.value
	e.prove(l, grown)
	switch {
	case grown && e.began.IsZero():
		e.lost, e.began, e.grew = l.value-e.value, now, now
		c.log().Warn(l.begun, l.grown(e.lost)...)
	case grown:
		e.lost, e.grew = e.lost+l.value-e.value, now
	case !e.began.IsZero() && now.Sub(e.grew) >= calmAfter && e.proved >= proofs:
		c.log().Info(l.over, append(l.grown(e.lost), "for", e.grew.Sub(e.began).Round(time.Second))...)
		e.began = time.Time{}
	}
	e.value = l.value
}

// prove counts the looks since l last grew at which something came through.
func (e *episode) prove(l *loss, grown bool) {
	switch {
	case l.through == nil:
		e.proved = proofs
		return
	case grown:
		e.proved = 0
	case *l.through > e.through:
		e.proved++
	}
	e.through = *l.through
}

// state logs where wrong begins or ends to be something. What is well at first is not
// worth a line, and what is not may just be starting: the next look tells.
func (c *Changes) state(key, what, wrong string, attrs ...any) {
	before, known := c.states[key]
	if !known {
		c.states[key] = ""
		return
	}
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
				key: lossKey(x.Name, reason), value: x.Dropped[reason],
				begun: "collector: reports are being lost", over: "collector: reports are no longer lost", attrs: []any{"collector", x.Name, "reason", reason},
				through: &x.PacketsSent,
			})
		}
	}
	for _, l := range j.Links {
		for _, d := range l.Directions {
			through := d.Forwarded
			if l.Kind == "tap" {
				through = d.Dropped["tap"] // what it is for
			}
			for _, reason := range sorted(d.Dropped) {
				if reason == "int_discard" || reason == "mitigation" || reason == "tap" {
					continue // asked for, by INT or by a rule, and what a tap is for
				}
				all = append(all, loss{
					key: "link " + l.Name + " " + d.Direction + " " + reason, value: d.Dropped[reason],
					begun: "link: packets are being dropped", over: "link: packets are no longer dropped", attrs: []any{"link", l.Name, "direction", d.Direction, "reason", reason},
					through: &through,
				})
			}
		}
	}
	for i := range j.Links {
		all = append(all, badOf(&j.Links[i]))
	}
	for i := range j.Ports {
		all = append(all, ofPort(&j.Ports[i])...)
	}
	for _, w := range j.Workers {
		all = append(all, loss{key: "worker " + w.Name + " refused", value: w.Refusals, begun: "flows: a flood, new flows are not being watched", over: "flows: new flows are watched again", attrs: []any{"worker", w.Name}},
			loss{key: "worker " + w.Name + " evicted", value: w.Evictions, count: "evicted", begun: "flows: the table is full, flows make room for others; raise flows.capacity, or look for a flood", over: "flows: no more flows make room for others", attrs: []any{"worker", w.Name}})
	}
	return all
}

// ofPort lists what the driver of p lost.
func ofPort(p *status.Port) (all []loss) {
	for _, l := range []loss{
		{key: "missed", value: p.RxMissed, begun: "port: its queue is full, packets are being missed", over: "port: no more packets are missed"},
		{key: "nombuf", value: p.RxNoMbuf, begun: "port: no mbuf is free, packets are being lost; raise dpdk.mbufs", over: "port: mbufs are free again"},
		{key: "rx_errors", value: p.RxErrors, begun: "port: packets with errors are being dropped; look at the cable and the transceiver", over: "port: no more packets with errors"},
		{key: "uncut", value: p.RxUncut, begun: "port: packets are being dropped that the kernel joined in a way that cannot be undone; let their sender cut them: docs/install.md, Kernel interfaces", over: "port: no more packets are dropped that the kernel joined"},
		{key: "truncated", value: p.RxTruncated, begun: "port: packets are being dropped that could not be received whole", over: "port: packets are received whole again"},
	} {
		l.key, l.through, l.attrs = "port "+p.Name+" "+l.key, &p.RxPackets, []any{"port", p.Name}
		all = append(all, l)
	}
	return all
}

// badOf is the packets of l that left with a checksum that was right as they came.
func badOf(l *status.Link) loss {
	b := loss{
		key: "link " + l.Name + " bad", value: l.Verified["bad"], count: "bad", attrs: []any{"link", l.Name},
		begun: "link: packets whose checksum was right leave with a wrong one; docs/trouble.md, Verify while it runs", over: "link: no more packets leave with a wrong checksum",
	}
	if l.LastBad != nil {
		b.attrs = append(b.attrs, "flow", l.LastBad.Flow)
	}
	return b
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
