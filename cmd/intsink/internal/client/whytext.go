// Writes what a flow's state, thresholds and reports mean (the command why).

package client

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/names"
)

// whyText is a flow's detail for people.
func whyText(d *flowapi.FlowDetail, book *names.Book) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s", d.ID)
	if hosts := book.Flow(d.ID); hosts != "" {
		line("  hosts       %s", hosts)
	}
	switch {
	case !d.Matched:
		line("  watch       not known: there are new rules since its last packet, and the next one is matched against them")
	case d.Watch == nil:
		line("  watch       none: no watch matches it, so INT is removed and nothing is reported")
	case len(d.Events) == 0:
		line("  watch       %q, worker %s: no events", *d.Watch, d.Worker)
	default:
		line("  watch       %q, worker %s: %s", *d.Watch, d.Worker, strings.Join(d.Events, ", "))
	}
	closing := ""
	if d.Closing {
		closing = "; FIN or RST seen"
	}
	line("  seen        %s, %d bytes; the last one %s ago%s", cli.Count(int(d.Packets), "packet"), d.Bytes, age(d.Now, d.LastSeen), closing)
	if d.Watch == nil {
		return b.String()
	}
	whyReported(line, d)
	whyPaths(line, d, book)
	whyLatencies(line, d, book)
	for _, l := range d.Lacks {
		line("  lacks       %s: its INT does not carry it, so there is no %s", strings.ReplaceAll(l.Value, "_", " "), strings.Join(l.Events, ", "))
	}
	line("The next report needs one of")
	for _, n := range nextReports(d) {
		if strings.HasPrefix(n, "  ") {
			line("  %s", n)
		} else {
			line("  - %s", n)
		}
	}
	return b.String()
}

// sameReport is how far apart two times of one report may be: one of them is kept in ticks.
const sameReport = 5 * time.Millisecond

func whyReported(line func(string, ...any), d *flowapi.FlowDetail) {
	if d.LastReport == nil {
		line("  reported    nothing since its first packet")
	} else {
		line("  reported    %s, %s ago (%s)", strings.Join(d.LastEvents, ", "), age(d.Now, *d.LastReport), d.LastReport.Format(time.RFC3339Nano))
	}
	if c := d.LastChange; c != nil && (d.LastReport == nil || d.LastReport.Sub(*c) > sameReport) {
		line("  changed     %s, %s ago (%s)", strings.Join(d.Changed, ", "), age(d.Now, *c), c.Format(time.RFC3339Nano))
	}
	line("  withheld    %s, by a rate, an interval or a quota", cli.Count(int(d.Suppressed), "event"))
	if d.Shed > 0 {
		line("  shed        %s, perhaps the last one too: the budgets of the collectors", cli.Count(int(d.Shed), "report"))
	}
	if s := d.Sequence; s != nil {
		line("  sequence    %d lost, %d reordered, %d duplicates, %d restarts", s.Lost, s.Reordered, s.Duplicates, s.Restarts)
	}
	if d.Drops > 0 {
		line("  drops       %s that the sink could not forward", cli.Count(int(d.Drops), "packet"))
	}
}

func whyPaths(line func(string, ...any), d *flowapi.FlowDetail, book *names.Book) {
	if d.Sprayed != nil {
		line("  sprayed     over %v: its packets take one, then another", d.Sprayed)
	}
	for _, p := range d.Paths {
		what := "known path"
		if p.Current {
			what = "path"
		}
		line("  %-11s %s, seen %s ago (id %s)", what, nodesText(&p.PathItem, book), age(d.Now, p.LastSeen), p.ID)
		if p.WithoutINT != nil && *p.WithoutINT > 0 {
			line("              %d of its %s wrote no INT: what happens there is not seen", *p.WithoutINT, cli.Count(*p.IPHops, "router"))
		}
	}
	if len(d.Paths) == 0 {
		line("  path        unknown: no packet had the ids of all nodes, and the interfaces that its INT asks for")
	}
}

func nodesText(p *flowapi.PathItem, book *names.Book) string {
	if p.Hops == nil {
		return "nodes not kept"
	}
	nodes := make([]string, len(p.Nodes))
	for i, h := range p.Nodes {
		nodes[i] = book.Node(h.Node)
	}
	if more := *p.Hops - len(nodes); more > 0 {
		nodes = append(nodes, fmt.Sprintf("%d more", more))
	}
	return "nodes " + strings.Join(nodes, " > ")
}

func whyLatencies(line func(string, ...any), d *flowapi.FlowDetail, book *names.Book) {
	if len(d.Hops) == 0 && d.EndToEnd == nil {
		return
	}
	line("  latency     reference  since         deviates                        of the last")
	row := func(name string, r *flowapi.ReferenceItem) {
		deviates := "above " + ns(r.AboveNs)
		if r.BelowNs != nil {
			deviates = fmt.Sprintf("below %s, %s", ns(uint64(*r.BelowNs)), deviates)
		}
		since := "its begin"
		if r.Since != nil {
			since = age(d.Now, *r.Since) + " ago"
		}
		line("    %-9s %-10s %-13s %-31s %d of %d%s", name, ns(uint64(r.ReferenceNs)), since, deviates, r.Deviating, r.Of, usualText(r))
	}
	for i := range d.Hops {
		name := book.Node(*d.Hops[i].Node)
		if on := d.Hops[i].OnPath; on != nil && !*on {
			name += "*"
		}
		row(name, &d.Hops[i])
	}
	if d.EndToEnd != nil {
		row("whole way", d.EndToEnd)
	}
	if slices.ContainsFunc(d.Hops, func(r flowapi.ReferenceItem) bool { return r.OnPath != nil && !*r.OnPath }) {
		line("    * not on the current path")
	}
}

// usualText holds a reference against what is usual there.
func usualText(r *flowapi.ReferenceItem) string {
	switch {
	case r.UsualNs == nil:
		return ""
	case *r.UsualNs > 0 && r.ReferenceNs/2 >= *r.UsualNs:
		return fmt.Sprintf("; %d x its usual %s", r.ReferenceNs / *r.UsualNs, ns(uint64(*r.UsualNs)))
	}
	return "; usually " + ns(uint64(*r.UsualNs))
}

// nextReports says, per event that is watched, what would be reported next.
func nextReports(d *flowapi.FlowDetail) []string {
	t := d.Thresholds
	latency := func(whose string, b *flowapi.DeadbandItem) string {
		return fmt.Sprintf("%s that deviates in %d of its last %d packets%s", whose, b.K, b.N, atMost(b.IntervalNs))
	}
	texts := map[string]string{
		"path_change":  pathText(d),
		"hop_latency":  latency("hop_latency: a node's latency", &t.HopLatency),
		"end_to_end":   latency("end_to_end: a latency of the whole way", &t.EndToEnd),
		"link_latency": linkText(&t.LinkLatency, latency),
		"congestion":   congestionText(t),
		"tx_utilization": fmt.Sprintf("tx_utilization: an interface on its way%s at %d or more, armed again after %s at %d or less",
			ofKnownUnit(t.TxUtilization.Auto), t.TxUtilization.Raise, period(t.TxUtilization.HoldNs), t.TxUtilization.Clear),
		"refresh":      "refresh: " + refreshText(d),
		"loss":         fmt.Sprintf("loss: a sequence number that is missing for %s%s", period(t.Loss.TimeoutNs), atMost(t.Loss.IntervalNs)),
		"drop":         "drop: a packet that the sink cannot forward" + atMost(t.Drop.IntervalNs),
		"hop_limit":    fmt.Sprintf("hop_limit: the E flag, after %s without it", period(t.HopLimit.RearmNs)),
		"mtu_exceeded": fmt.Sprintf("mtu_exceeded: the M flag, after %s without it", period(t.MTUExceeded.RearmNs)),
		"flow_end":     "flow_end: silence for flows.idle_timeout, or two seconds of it after FIN or RST",
	}
	var out []string
	for _, e := range d.Events {
		if text := texts[e]; text != "" && !cannotCome(d, e) && (e != "loss" || d.Sequence != nil) {
			out = append(out, text)
			out = append(out, waitTexts(d, e)...)
		}
	}
	switch {
	case t.Sample.OneIn == 0:
	case t.Sample.ByFlow:
		out = append(out, fmt.Sprintf("sample: any packet, where this flow is one in %d", t.Sample.OneIn))
	default:
		out = append(out, fmt.Sprintf("sample: one packet in %d of the watch", t.Sample.OneIn))
	}
	if len(out) == 0 {
		out = append(out, "nothing: the watch asks for no event that this flow can still have")
	}
	return out
}

// cannotCome reports whether an event is never told, for want of a value that the flow's INT does not carry.
func cannotCome(d *flowapi.FlowDetail, event string) bool {
	return slices.ContainsFunc(d.Lacks, func(l flowapi.LackItem) bool { return slices.Contains(l.Events, event) })
}

func pathText(d *flowapi.FlowDetail) string {
	t := d.Thresholds
	what := fmt.Sprintf("path_change: a path that is not among the last %d, or not seen for %s", t.PathChange.Paths, period(t.PathChange.MemoryNs))
	switch {
	case t.PathChange.Known:
		what = "path_change: any other path"
	case d.Sprayed != nil && d.Sprayed.More:
		what = "path_change: none while it is sprayed over more paths than are remembered"
	case d.Sprayed != nil:
		what = "path_change: a path that it was not sprayed over, or that it takes no more"
	}
	if t.PathChange.Rate > 0 {
		what += fmt.Sprintf("; at most %d a second", t.PathChange.Rate)
	}
	return what
}

// ofKnownUnit says which interfaces are looked at: by samples, those whose load is in per cent.
func ofKnownUnit(auto bool) string {
	if auto {
		return ", of a node whose unit is known,"
	}
	return ""
}

func linkText(b *flowapi.DeadbandItem, latency func(string, *flowapi.DeadbandItem) string) string {
	if b.Auto {
		return "link_latency: a link on its way, between nodes that tell receive times, that is slow by what is usual, or as usual again"
	}
	return latency("link_latency: a link on its way with a latency", b)
}

func congestionText(t *flowapi.ThresholdsItem) string {
	if t.Congestion.Factor > 0 {
		return fmt.Sprintf("congestion: a queue on its way with %d times its usual latency, and %s or more, or with as many times its usual occupancy; %d reports an episode",
			t.Congestion.Factor, ns(uint64(t.Congestion.RaiseLatencyNs)), t.Congestion.Quota)
	}
	var by []string
	if t.Congestion.Raise > 0 {
		by = append(by, fmt.Sprintf("an occupancy of %d or more", t.Congestion.Raise))
	}
	if t.Congestion.RaiseLatencyNs > 0 {
		by = append(by, fmt.Sprintf("a latency of %s or more", ns(uint64(t.Congestion.RaiseLatencyNs))))
	}
	if len(by) == 0 {
		return ""
	}
	return fmt.Sprintf("congestion: a queue on its way with %s; %d reports an episode", strings.Join(by, " or "), t.Congestion.Quota)
}

func refreshText(d *flowapi.FlowDetail) string {
	switch {
	case d.RefreshDue == nil:
		return "not due yet"
	case d.RefreshDue.After(d.Now):
		return fmt.Sprintf("a packet from %s on without another report", period(int64(d.RefreshDue.Sub(d.Now))))
	}
	return "the next packet: it is due"
}

func atMost(interval int64) string {
	if interval == 0 {
		return ""
	}
	return fmt.Sprintf("; at most one in %s", period(interval))
}

// ns is a latency in the unit that reads best.
func ns(v uint64) string {
	switch {
	case v < 1000:
		return fmt.Sprintf("%d ns", v)
	case v < 1000_000:
		return fmt.Sprintf("%.4g us", float64(v)/1e3)
	case v < 1000_000_000:
		return fmt.Sprintf("%.4g ms", float64(v)/1e6)
	case v < 60_000_000_000:
		return fmt.Sprintf("%.4g s", float64(v)/1e9)
	}
	return time.Duration(min(v, math.MaxInt64)).Round(time.Second).String()
}

func period(d int64) string { return ns(uint64(max(d, 0))) }

// age is how long ago t was.
func age(now, t time.Time) string { return period(int64(now.Sub(t))) }
