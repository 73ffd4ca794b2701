// Incident of last week: what the store has of a time, as one sink would answer it: the ways of the flows that it is about, each hop and segment
// held against the day before, the episodes and problems that they met, and a verdict.

package allsinks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
	"intsink/engine/usual"
	"intsink/exporters/clickhouse"
)

// Bounds of an incident of the past.
const (
	mostPastIncident = 24 * time.Hour // its time: each place has a value for each minute
	mostWays         = 100
	mostPastPlaces   = 200
	fewMinutes       = 30 // of the day before: with fewer, nobody knows what is usual
)

// pastIncident is what the store knows of a time that an incident is about.
type pastIncident struct {
	s        *Sinks
	at       span
	of       subject
	flows    []any
	paths    []any
	ways     [][]step // of each path
	places   []any
	slow     []verdict.Finding
	problems []any
	episodes []any
	found    []verdict.Finding
	why      []any
	unsure   bool // something that would have to be known is not
	lost     float64
	untold   int // hops of the ways that no report of the time has a latency of
	young    int // places on the ways whose usual latency the day before does not tell
}

// longIncident answers an incident of a time that the sinks remember no more: out of the store, and of what they remember, of the sinks.
func (s *Sinks) longIncident(ctx context.Context, parameters url.Values, at span) (object, error) {
	of, err := subjectOf(parameters)
	switch {
	case err != nil:
		return nil, err
	case parameters.Get("compare") != "":
		return nil, &refusal{http.StatusBadRequest, "compare goes with a time of the last 24 hours: one before is held against its own day before"}
	case at.to.Sub(at.from) > mostPastIncident:
		return nil, &refusal{http.StatusBadRequest, "from and to are more than 24 hours apart: one question of the past is about a day at most"}
	}
	q := &question{}
	if border := s.o.Now().Add(time.Hour - sinksKeep).Truncate(time.Second); at.to.After(border.Add(time.Minute)) {
		asked := url.Values{}
		for _, k := range []string{"flow", "host", "node", "to"} {
			if v := parameters.Get(k); v != "" {
				asked.Set(k, v)
			}
		}
		asked.Set("from", border.Add(time.Minute).UTC().Format(time.RFC3339))
		recent, err := s.ask(ctx, "/api/v1/incident?"+asked.Encode(), 5*s.o.Timeout)
		if err != nil {
			return nil, err
		}
		q.replies = append(q.replies, recent.replies...)
	}
	past := &pastIncident{s: s, at: at, of: of, flows: []any{}, paths: []any{}, places: []any{}, problems: []any{}, episodes: []any{}, why: []any{}}
	r := reply{sink: &sink{name: pastName}}
	if r.err = past.read(ctx); r.err == nil {
		r.o = past.answer()
	}
	q.replies = append(q.replies, r)
	if len(q.answers()) == 0 {
		return nil, fmt.Errorf("no answer from the store: %w", r.err)
	}
	o := s.mergeIncident(q)
	o["from"], o["to"], o["about"] = stamp(at.from), stamp(at.to), of.about
	if p := q.partial(); len(p) > 0 {
		o["partial"] = p
	}
	return o, nil
}

func (x *pastIncident) say(format string, a ...any) { x.why = append(x.why, fmt.Sprintf(format, a...)) }

// lack says what is missing for "nothing was wrong".
func (x *pastIncident) lack(format string, a ...any) {
	x.unsure = true
	x.say(format, a...)
}

func (x *pastIncident) read(ctx context.Context) error {
	if err := x.readWays(ctx); err != nil {
		return err
	}
	for _, read := range []func(context.Context) error{x.readPlaces, x.readProblems, x.readEpisodes, x.readMissing} {
		if err := read(ctx); err != nil {
			x.lack("the store does not answer all: %s", cleanText(err.Error()))
		}
	}
	return nil
}

// readWays has the flows, and the ways that their packets took.
func (x *pastIncident) readWays(ctx context.Context) error {
	rows, err := x.s.rows(ctx, clickhouse.WaysBetween(x.s.o.Past.Database, x.at.from, x.at.to, x.of.sql(), mostWays))
	if err != nil {
		return err
	}
	for _, row := range rows {
		var way []step
		in, out := listOf(row, "ingress"), listOf(row, "egress")
		for i, n := range listOf(row, "nodes") {
			if id := shown(n); id != unknownNumber && i < len(in) && i < len(out) {
				way = append(way, step{id, interfaceOf(in[i]), interfaceOf(out[i])})
			}
		}
		for _, f := range listOf(row, "flows") {
			if len(x.flows) < mostWays && !slices.Contains(x.flows, f) {
				x.flows = append(x.flows, f)
			}
		}
		x.lost += amount(row, "lost_packets")
		if len(way) > 0 {
			x.ways, x.paths = append(x.ways, way), append(x.paths, wayItem(text(row, "path"), way))
		}
	}
	return nil
}

// wayItem is a way as the API has it.
func wayItem(id string, way []step) object {
	nodes := []any{}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return json.Number(s)
	}
	for _, s := range way {
		nodes = append(nodes, object{"node": json.Number(s.node), "ingress": orNull(s.ingress), "egress": orNull(s.egress)})
	}
	return object{"id": id, "hops": len(way), "nodes": nodes}
}

// interfaceOf is the number of one; "": it is not known, or none that the API has room for.
func interfaceOf(v any) string {
	s := shown(v)
	if n, err := strconv.ParseUint(s, 10, 16); err != nil || n == math.MaxUint16 {
		return ""
	}
	return s
}

// readPlaces holds the hops and segments of the ways against the day before; of a node, those of the node.
func (x *pastIncident) readPlaces(ctx context.Context) error {
	hops, segments := map[string]bool{}, map[string]bool{}
	mine := func(node string) bool { return x.of.node == "" || x.of.node == node }
	for _, way := range x.ways {
		for i, at := range way {
			if mine(at.node) {
				hops["("+at.node+", "+cmp.Or(at.egress, unknownNumber)+")"] = true
			}
			if i+1 < len(way) && (mine(at.node) || mine(way[i+1].node)) {
				segments["("+at.node+", "+way[i+1].node+")"] = true
			}
		}
	}
	for _, k := range []struct {
		of      clickhouse.Minutes
		kind    string
		in      map[string]bool
		columns string
		name    func(row object) string
	}{
		{clickhouse.Hops, "hop", hops, "(node, egress)", func(row object) string { return "node " + shown(row["node"]) }},
		{clickhouse.Segments, "segment", segments, "(from_node, to_node)", func(row object) string { return "from " + shown(row["from_node"]) + " to " + shown(row["to_node"]) }},
	} {
		if len(k.in) == 0 {
			continue
		}
		only := " AND " + k.columns + " IN (" + strings.Join(slices.Sorted(maps.Keys(k.in)), ", ") + ")"
		rows, err := x.s.rows(ctx, k.of.HeldBetween(x.s.o.Past.Database, x.at.from, x.at.to, only, mostPastPlaces))
		if err != nil {
			return err
		}
		before := len(x.places)
		for _, row := range rows {
			x.addPlace(k.kind, k.name(row), row)
		}
		if k.kind == "hop" { // only timestamps tell of segments
			x.untold = len(k.in) - (len(x.places) - before)
		}
	}
	return nil
}

// addPlace holds the minutes of one hop or segment against the day before. Who is slow is reported more often than others: of the day before, the
// 90th percentile stands for the 99th.
func (x *pastIncident) addPlace(kind, name string, row object) {
	medians := listOf(row, "medians")
	if len(medians) == 0 {
		return // of the day before alone
	}
	before, now := nanoseconds(row, "before"), nanoseconds(row, "now")
	held := usual.Stat{Known: amount(row, "known") >= fewMinutes, Median: before[0], P99: before[1]}
	o := object{"place": name, "kind": kind, "median_ns": now[0], "p99_ns": now[2], "max_ns": whole(amount(row, "max")), "usual_ns": nil, "state": "learning", "steps": 60 * len(medians)}
	if held.Known {
		o["usual_ns"], o["state"] = held.Median, "known"
	} else {
		x.young++
	}
	worst, slow := uint32(0), 0
	for _, m := range medians {
		ns := clipped(m)
		worst = max(worst, ns)
		slow += 60 * bit(ns >= usual.DefaultFloor && held.IsAbove(ns))
	}
	o["worst_ns"], o["slow_steps"] = worst, slow
	if x.places = append(x.places, o); slow > 0 {
		f := verdict.Finding{Verdict: verdict.NetworkSlow, At: name, Over: true, Times: float64(worst) / float64(max(held.Median, 1))}
		x.slow = append(x.slow, f)
		x.say("%s: median of the reports of a minute up to %s, %.1f x the %s of the day before, in %d of %d minutes with reports", name, problem.Latency(float64(worst)), f.Times, problem.Latency(float64(held.Median)), slow/60, len(medians))
	}
}

// readProblems has what the sinks' webhooks told, and what the sinks tell still.
func (x *pastIncident) readProblems(ctx context.Context) error {
	q, _, err := x.s.askProblems(ctx)
	if err != nil {
		return err
	}
	past, err := x.s.pastProblems(ctx, x.at.from, q.answers())
	seen := map[string]bool{}
	for _, r := range append(q.answers(), past...) {
		for _, o := range objects(r.o, "items") {
			var p problem.Problem
			if b, err := json.Marshal(o); err != nil || json.Unmarshal(b, &p) != nil || !p.Since.Before(x.at.to) || p.Until != nil && p.Until.Before(x.at.from) || !ofNetwork(o) || !x.of.meets(&p, x.ways) {
				continue
			}
			o = copyOf(o)
			o["sink"] = r.sink.name
			x.problems = append(x.problems, o)
			if where := string(p.Kind) + p.Where(); !seen[where] {
				seen[where] = true
				x.addProblem(&p)
			}
		}
	}
	return err
}

// addProblem says a problem, and what it is for the title.
func (x *pastIncident) addProblem(p *problem.Problem) {
	until := "now"
	if p.Until != nil {
		until = stamp(*p.Until)
	}
	x.say("%s, from %s to %s: %s", strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", p.Where(), p.What, p.Amount()), ", "), stamp(p.Since), until, p.Kind)
	f := verdict.Finding{Verdict: string(p.Kind), At: verdict.Place(p), Over: true}
	switch p.Kind {
	case problem.NodeGone, problem.FlowsSilent, problem.LossBetween, problem.Loop:
	case problem.SlowHop, problem.SlowSegment, problem.QueueCongested:
		f.Verdict = verdict.NetworkSlow
		if p.Value != nil && p.Usual != nil {
			f.Times = *p.Value / max(*p.Usual, 1)
		}
	default:
		return // over, it is how the network was then
	}
	x.found = append(x.found, f)
}

// readEpisodes has those that the flows filled, or waited in; of a node, those of its queues.
func (x *pastIncident) readEpisodes(ctx context.Context) error {
	past, err := x.s.pastEpisodes(ctx, x.at, url.Values{})
	if err != nil {
		return err
	}
	for _, o := range objects(past.o, "items") {
		met := shown(o["node"]) == x.of.node
		for _, name := range []string{"culprits", "victims"} {
			met = met || slices.ContainsFunc(objects(o, name), func(c object) bool { return x.of.fits(text(c, "flow")) })
		}
		if !met {
			continue
		}
		o["stored"], o["id"] = o["id"], count(0) // sinks have numbers
		x.episodes = append(x.episodes, o)
		at := fmt.Sprintf("queue %s of node %s", shown(o["queue"]), shown(o["node"]))
		filled := ""
		if c := objects(o, "culprits"); len(c) > 0 {
			filled = fmt.Sprintf("; %s filled it, with %.0f %% of its bytes", text(c[0], "flow"), 100*amount(c[0], "share"))
			if share := 100 * amount(o, "other_bytes") / max(amount(o, "bytes"), 1); share >= 1 {
				filled += fmt.Sprintf(", flows without a record: %.0f %%", share)
			}
		}
		x.say("%s was congested from %s to %s%s", at, text(o, "begin"), text(o, "end"), filled)
		x.found = append(x.found, verdict.Finding{Verdict: verdict.NetworkSlow, At: at, Over: true})
	}
	return nil
}

// readMissing says which reports of the time never came.
func (x *pastIncident) readMissing(ctx context.Context) error {
	rows, err := x.s.rows(ctx, clickhouse.MissingBetween(x.s.o.Past.Database, x.at.from, x.at.to))
	for _, row := range rows {
		if n, more := amount(row, "packets"), amount(row, "unknown"); n+more > 0 {
			x.say("%.0f report packets of this time never came, and %.0f gaps are of unknown size: what they told is not known", n, more)
		}
	}
	return err
}

// answer is the incident, as a sink has it.
func (x *pastIncident) answer() object {
	out := object{
		"flows": x.flows, "paths": x.paths, "places": x.places, "problems": x.problems, "episodes": x.episodes, "recorded": nil, "lost": whole(x.lost),
		"coverage": object{"flows": count(len(x.flows)), "gone": count(0), "without_path": count(bit(len(x.flows) > 0 && len(x.paths) == 0)), "places": count(len(x.places) + x.untold), "told": count(len(x.places)), "without_usual": count(x.young), "doubtful": count(0)},
	}
	out["verdict"], out["title"] = x.judge(out)
	out["why"] = x.why
	return out
}

// judge decides as a sink does: something that was wrong decides alone; that nothing was is said only where everything was looked at.
func (x *pastIncident) judge(out object) (string, string) {
	named := func(f verdict.Finding) bool {
		return slices.ContainsFunc(x.found, func(o verdict.Finding) bool { return o.At == f.At })
	}
	all := append(x.found, slices.DeleteFunc(x.slow, named)...)
	if x.lost > 0 {
		x.say("%.0f packets of these flows were lost, as reports of this time say", x.lost)
	}
	if len(all) > 0 {
		verdict.Sort(all)
		out["at"] = all[0].At
		return all[0].Verdict, verdict.Headline(all)
	}
	switch {
	case len(x.flows) == 0:
		x.lack("no report of this time is about such a flow; reports are kept for 7 days, where collect's tables are as they came")
	case len(x.paths) == 0 || len(x.places) == 0:
		x.lack("no report of this time tells the latency of the ways of these flows")
	case x.untold > 0:
		x.lack("%s of the ways had no report with a latency in this time", cli.Count(x.untold, "hop"))
	case x.young > 0:
		x.lack("of %d hops and segments the day before has too few reports to know what was usual", x.young)
	}
	if x.unsure || x.lost > 0 {
		return verdict.CannotSay, "not enough coverage to say"
	}
	x.say("%d hops and segments told of this time, in no minute was one slow; no episode, no problem, no packet lost", len(x.places))
	return verdict.NetworkNormal, "network normal in what was reported: look at the hosts"
}

func count(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// nanoseconds are three percentiles.
func nanoseconds(row object, name string) (all [3]uint32) {
	for i, v := range listOf(row, name) {
		if i < len(all) {
			all[i] = clipped(v)
		}
	}
	return all
}

// clipped is a time in nanoseconds.
func clipped(v any) uint32 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return uint32(min(max(f, 0), math.MaxUint32))
}
