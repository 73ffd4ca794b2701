// Signs of what is wrong with the sink: of what it counts and is.

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/burst"
)

// Signs lists those that j has. stuck is what is wrong with workers that do not poll, nil where all do; behind is since when.
func (j *Status) Signs(stuck error, behind time.Time) (all []problem.Sign) {
	for i := range j.Collectors {
		all = append(all, ofCollector(&j.Collectors[i])...)
	}
	for i := range j.Links {
		all = append(all, ofLink(&j.Links[i])...)
	}
	for i := range j.Ports {
		all = append(all, ofPort(&j.Ports[i])...)
	}
	for i := range j.Workers {
		all = append(all, ofWorker(&j.Workers[i])...)
	}
	for _, o := range j.OddValues {
		all = append(all, problem.Sign{
			Kind: problem.ValuesOdd, Subject: "node", Place: problem.At("node", fmt.Sprint(o.Node)), What: "it writes residence times that cannot be", Over: "its residence times can be",
			Todo:     "these are not known, and give no event; if they are right, raise int.ifa.max_residence, else look at the clock and the firmware of the node",
			Evidence: problem.Evidence{Why: fmt.Sprintf("in %.2g%% of packets with IFA since the start", 100*o.Share)},
			Count:    &problem.Count{Value: o.Hops, Name: "hops", Unit: "hops", FromZero: true},
		})
	}
	if stuck != nil {
		all = append(all, problem.Sign{
			Kind: problem.WorkerBehind, Subject: "workers", What: "a worker does not poll", Over: "all poll again", Evidence: problem.Evidence{Why: stuck.Error()}, Since: behind, Settle: problem.Settle,
			Todo: "look at what else runs on its CPU (intsink doctor); where it stays so, intsink report-bug, and restart",
		})
	}
	all = append(all, problem.Sign{
		Kind: problem.ClockWrong, Subject: "clocks", What: "latencies of whole ways come out negative and are withheld", Over: "no more latencies come out negative",
		Todo:  "look at ptp4l and chronyd of INT sources and of the sink, and at events.end_to_end.clock_offset",
		Count: &problem.Count{Value: j.WaySkew, Name: "latencies", Unit: "latencies"},
	})
	return append(all, ofState(j)...)
}

func ofCollector(c *Collector) (all []problem.Sign) {
	place := problem.At("collector", c.Name)
	away := c.GatewayKnown != nil && !*c.GatewayKnown
	for _, reason := range sorted(c.Dropped) {
		s := problem.Sign{
			Kind: problem.ReportsLost, Subject: "collector", Place: problem.And(place, "reason", reason), What: "reports are being lost", Over: "reports are no longer lost",
			Todo: "docs/metrics.md says what each reason means", Count: &problem.Count{Value: c.Dropped[reason], Unit: "reports", FromZero: true, Through: &c.PacketsSent},
		}
		switch reason {
		case "refused":
			s.Kind, s.What, s.Over = problem.CollectorAway, "nobody listens at its address: reports are being lost", "reports are no longer lost"
			s.Todo = fmt.Sprintf("start the collector at %s, or change its address", c.Address)
		case "unresolved":
			if away {
				continue // the gateway's own sign tells of it
			}
		case "mtu", "too_big":
			s.Todo = "lower report.coalesce.max_bytes, or raise the MTU on the way"
		case "ring_full", "port_full", "no_mbuf", "timeout":
			s.Todo = "fewer reports: raise thresholds, or give the collector a budget"
		}
		all = append(all, s)
	}
	if away {
		all = append(all, problem.Sign{
			Kind: problem.CollectorAway, Subject: "gateway", Place: place, What: "it does not answer: reports are dropped", Over: "it answers", Settle: problem.Settle,
			Todo: "look at gateway, vlan and source of the collector",
		})
	}
	return all
}

// LosingOf is since when, and why, report packets to a collector are being lost, by the problems that are open; nil: they are not.
func LosingOf(collector string, open []*problem.Problem) (x *Losing) {
	for _, p := range open {
		if len(p.Place) < 2 || p.Kind != problem.ReportsLost && p.Kind != problem.CollectorAway || p.Place[0].ID != collector {
			continue
		}
		if x == nil {
			x = &Losing{Since: p.Since}
		}
		x.Reasons = append(x.Reasons, p.Place[1].ID)
		if p.Since.Before(x.Since) {
			x.Since = p.Since
		}
	}
	return x
}

func ofLink(l *Link) (all []problem.Sign) {
	place := problem.At("link", l.Name)
	for _, d := range l.Directions {
		through := d.Forwarded
		if l.Kind == "tap" {
			through = d.Dropped["tap"] // what it is for
		}
		for _, reason := range sorted(d.Dropped) {
			if burst.Asked(reason) {
				continue
			}
			all = append(all, problem.Sign{
				Kind: problem.PacketsDropped, Subject: "link", Place: problem.And(place, "direction", d.Direction, "reason", reason),
				What: "packets are being dropped", Over: "packets are no longer dropped", Todo: dropTodo[reason],
				Count: &problem.Count{Value: d.Dropped[reason], Unit: "packets", Through: &through},
			})
		}
	}
	sound := uint64(0)
	for _, packets := range l.INT {
		sound += packets
	}
	for _, reason := range sorted(l.Malformed) {
		if reason == "too_deep" || reason == "fragment" {
			continue // packets that are sound; whether INT is in them is not known
		}
		s := problem.Sign{
			Kind: problem.INTDamaged, Subject: "link", Place: problem.And(place, "reason", reason), What: "INT arrives that is not sound", Over: "INT is sound again",
			Todo:  "docs/metrics.md says what each reason means; intsink capture shows packets, and the node that wrote them",
			Count: &problem.Count{Value: l.Malformed[reason], Name: "packets", Unit: "packets", Through: &sound},
		}
		if reason == "ifa_layout" {
			s.What, s.Over = "hops of IFA have no layout: nothing is known of these packets' ways", "hops of IFA have layouts again"
			s.Todo, s.Evidence.Why = "a block hop in int.ifa says how they are laid out (docs/configuration.md)", strings.Join(sorted(l.NoLayout), "; ")
		}
		all = append(all, s)
	}
	bad := problem.Sign{
		Kind: problem.ChecksumBad, Subject: "link", Place: place, What: "packets whose checksum was right leave with a wrong one", Over: "no more packets leave with a wrong checksum",
		Todo: "docs/trouble.md, Verify while it runs", Count: &problem.Count{Value: l.Verified["bad"], Name: "bad", Unit: "packets"},
	}
	if l.LastBad != nil {
		bad.Evidence.Flows = []string{l.LastBad.Flow}
	}
	return append(all, bad, problem.Sign{
		Kind: problem.INTLeaked, Subject: "link", Place: place, What: "hosts send INT towards the network", Over: "no more INT comes from hosts",
		Todo:  "the event leak reports such packets; look at who sends them",
		Count: &problem.Count{Value: l.Leaked, Name: "packets", Unit: "packets"},
	})
}

// dropTodo says what to do about packets that a link drops, by reason.
var dropTodo = map[string]string{
	"tx_full":     "the output does not take what arrives: look at the host behind it, and at its flow control",
	"tx_too_long": "raise the MTU of the output port's interface",
	"tx_down":     "look at the link of the output port",
	"malformed":   `int { malformed = "forward" } lets such packets pass`,
}

// ofPort lists what the driver of p lost.
func ofPort(p *Port) (all []problem.Sign) {
	place := problem.At("port", p.Name)
	for _, s := range []struct {
		kind             problem.Kind
		reason           string
		value            uint64
		what, over, todo string
	}{
		{problem.PacketsMissed, "queue_full", p.RxMissed, "its queue is full, packets are being missed", "no more packets are missed", "more workers, a longer queue (rx_desc), or a mode that does less; intsink doctor says what disturbs the worker"},
		{problem.PacketsMissed, "no_mbuf", p.RxNoMbuf, "no mbuf is free, packets are being lost", "mbufs are free again", "raise dpdk.mbufs"},
		{problem.PortErrors, "errors", p.RxErrors, "packets with errors are being dropped", "no more packets with errors", "look at the cable and the transceiver"},
		{problem.PortErrors, "uncut", p.RxUncut, "packets are being dropped that the kernel joined in a way that cannot be undone", "no more packets are dropped that the kernel joined", "let their sender cut them: docs/install.md, Kernel interfaces"},
		{problem.PortErrors, "truncated", p.RxTruncated, "packets are being dropped that could not be received whole", "packets are received whole again", "let their sender cut them: docs/install.md, Kernel interfaces"},
	} {
		all = append(all, problem.Sign{
			Kind: s.kind, Subject: "port", Place: problem.And(place, "reason", s.reason), What: s.what, Over: s.over, Todo: s.todo,
			Count: &problem.Count{Value: s.value, Unit: "packets", Through: &p.RxPackets},
		})
	}
	if !p.LinkUp {
		all = append(all, problem.Sign{
			Kind: problem.LinkDown, Place: place, What: "the link is down", Evidence: problem.Evidence{Why: p.LinkDown}, Settle: problem.Settle, Told: true,
			Todo: "look at the cable, the transceiver and the other end; docs/install.md, Link state",
		})
	}
	return all
}

func ofWorker(w *Worker) []problem.Sign {
	place := problem.At("worker", w.Name)
	return []problem.Sign{
		{Kind: problem.FlowsRefused, Subject: "flows", Place: place, What: "a flood, new flows are not being watched", Over: "new flows are watched again",
			Todo: "raise flows.capacity, or look for the flood: intsink top flows", Count: &problem.Count{Value: w.Refusals, Unit: "flows"}},
		{Kind: problem.TableFull, Subject: "flows", Place: place, What: "the table is full, flows make room for others", Over: "no more flows make room for others",
			Todo: "raise flows.capacity, or look for a flood: intsink top flows", Count: &problem.Count{Value: w.Evictions, Name: "evicted", Unit: "flows"}},
	}
}

// ofState lists what is otherwise than it stays, which whoever made it so has logged.
func ofState(j *Status) (all []problem.Sign) {
	if m := j.Mode; m != nil && m.Mode != "full" {
		all = append(all, problem.Sign{
			Kind: problem.LessDone, Place: problem.At("mode", m.Mode), What: "less is done with packets: the mode is " + m.Mode, Evidence: problem.Evidence{Why: m.Why}, Since: m.Since, Told: true,
			Todo: "intsink mode full; where the load asks for it, fewer packets or more workers",
		})
	}
	if m := j.Mode; m != nil && m.Switch != nil && (m.Switch.State != "inline" || m.Switch.Error != "") {
		all = append(all, problem.Sign{
			Kind: problem.BypassSwitch, Place: problem.At("switch", m.Switch.State), What: "the bypass switch is not inline", Told: true, Settle: problem.Settle,
			Evidence: problem.Evidence{Why: strings.Trim(m.Switch.Why+"; "+m.Switch.Error, "; ")}, Todo: "intsink mode says why; look at bypass { command }",
		})
	}
	if c := j.Config; c != nil {
		all = append(all, ofConfig(c)...)
	}
	for _, d := range j.Degraded {
		all = append(all, problem.Sign{
			Kind: problem.Degraded, Place: problem.At(d.Part, d.Name), What: "it does not work as configured", Evidence: problem.Evidence{Why: d.Why}, Since: d.Since, Told: true,
			Todo: "mend what the reason names: it is tried again each second",
		})
	}
	if j.Replaced {
		all = append(all, problem.Sign{
			Kind: problem.RestartPending, Subject: "program", What: "its file was replaced: another version is installed than runs", Over: "the version runs that is installed",
			Todo: "systemctl restart intsink, when it suits you",
		})
	}
	return all
}

func ofConfig(c *Config) (all []problem.Sign) {
	if t := c.Trial; t != nil {
		what, before := t.Of()
		all = append(all, problem.Sign{
			Kind: problem.ConfigOnTrial, Place: problem.At("generation", fmt.Sprint(c.Generation)), What: what + " is on trial", Since: c.Since, Told: true,
			Evidence: problem.Evidence{Why: fmt.Sprintf("%s comes back at %s", before, t.Until.Format(time.RFC3339))}, Todo: "intsink confirm keeps it, intsink confirm --back goes back",
		})
	}
	if t := c.LastTrial; t != nil && t.Program != "" && t.Result != "confirmed" && t.InForce(c.Generation) {
		all = append(all, problem.Sign{
			Kind: problem.UpgradeUndone, Place: problem.At("program", t.Tried), What: "it was on trial, and the program before it came back", Since: t.Ended, Told: true,
			Evidence: problem.Evidence{Why: t.Why}, Todo: "mend what the reason names, and intsink upgrade again; a restart forgets it",
		})
	}
	if r := c.LastReload; r != nil && !r.OK {
		all = append(all, problem.Sign{
			Kind: problem.ReloadRefused, Place: problem.At("generation", fmt.Sprint(c.Generation)), What: "the last reload was refused", Since: r.Time, Told: true,
			Evidence: problem.Evidence{Why: r.Error}, Todo: "intsink check --config FILE says what is wrong; then intsink reload",
		})
	}
	return all
}

// sorted lists the names of counters in a fixed order.
func sorted(m map[string]uint64) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
