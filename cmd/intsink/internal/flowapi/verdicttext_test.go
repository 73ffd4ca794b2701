package flowapi

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/aside/inspect"
	"intsink/flows"
)

// TestSayEpisodes: a queue has one line, whatever it went through, and the episode with the most bytes says who filled it.
func TestSayEpisodes(t *testing.T) {
	at := time.Date(2026, 11, 26, 4, 4, 50, 0, time.UTC)
	after := func(s int) *time.Time { return new(at.Add(time.Duration(s) * time.Second)) }
	filled := []culpritItem{{Flow: "udp:a", Share: 0.94}}
	x := &Incident{Episodes: []*EpisodeItem{
		{Node: 302, Egress: new(uint16(12)), Queue: 2, Begin: *after(20), End: after(90), Bytes: 1_234_567, Culprits: filled},
		{Node: 302, Egress: new(uint16(12)), Queue: 2, Begin: at, End: after(10), Bytes: 999},
		{Node: 7, Queue: 0, Begin: at, Bytes: 999, Culprits: filled},
	}}
	x.sayEpisodes()
	want := []string{
		"queue 2 of node 302, egress 12 was congested 2 times from 04:04:50 to 04:06:20; at most from 04:05:10: udp:a filled it, with 94 % of 1.23 MB",
		"queue 0 of node 7 was congested from 04:04:50 on, and is now; udp:a filled it, with 94 % of 999 bytes",
	}
	if !slices.Equal(x.Why, want) {
		t.Errorf("%q", x.Why)
	}
}

// TestWhereNode: a node that is gone is not one that never was.
func TestWhereNode(t *testing.T) {
	gone := &problem.Problem{Kind: problem.NodeGone, Place: []problem.Part{{What: "node", ID: "203"}}, Since: time.Date(2026, 11, 26, 4, 4, 50, 0, time.UTC),
		Evidence: problem.Evidence{From: "102 > 203", To: "102 > 204", Flows: []string{"a", "b"}}}
	in := &API{
		Problems: func() []*problem.Problem { return []*problem.Problem{gone} },
		Seen:     func(node uint32) (time.Time, bool) { return gone.Since, node == 204 },
	}
	for node, want := range map[uint32]string{
		203: "the last packet came through it at 04:04:50|its flows went elsewhere, for example from 102 > 203 to 102 > 204: a b",
		204: "no flow passes node 204 now, and none is known to have left it for another way; the last packet came through it at 04:04:50",
		999: "no flow passes node 999, and none did in the last day: intsink paths has the nodes that there are",
	} {
		x := &Incident{Why: []string{"no such flow is known"}}
		in.sayWhereNode(x, node)
		if got := strings.Join(x.Why, "|"); got != want || len(x.Problems) != map[uint32]int{203: 1}[node] || (node == 203) != (x.Title == "node 203 is gone: no packet comes through it") {
			t.Errorf("%q: %s, with %d problems", x.Title, got, len(x.Problems))
		}
	}
}

// TestIncidentOfAFlow: a flow's id stands for it and the one in the opposite direction, two addresses for all between them.
func TestIncidentOfAFlow(t *testing.T) {
	ask := func(flow string) (*parameters, string, int) {
		p := &parameters{values: map[string][]string{"flow": {flow}}}
		filters, _, about := incidentFilters(p)
		if p.err == nil && (filters[0].Source != filters[1].Destination || filters[0].DestPort != filters[1].SourcePort) {
			t.Errorf("%+v", filters)
		}
		ports := 0
		if p.err == nil && filters[0].DestPort != nil {
			ports = int(*filters[0].DestPort)
		}
		return p, about, ports
	}
	if p, about, port := ask("tcp:10.0.0.1:1024-10.1.0.1:80"); p.err != nil || about != "flow tcp:10.0.0.1:1024-10.1.0.1:80" || port != 80 {
		t.Error(p.err, about, port)
	}
	if p, about, port := ask("10.0.0.1,10.1.0.0/16"); p.err != nil || about != "flows between 10.0.0.1 and 10.1.0.0/16" || port != 0 {
		t.Error(p.err, about, port)
	}
	if p, _, _ := ask("tcp:10.0.0.1-10.1.0.1:80"); p.err == nil {
		t.Error("half a flow is taken")
	}
}

// TestClockTime: a time without a date is the last one; the day is UTC's.
func TestClockTime(t *testing.T) {
	now := time.Date(2026, 11, 26, 4, 30, 0, 0, time.FixedZone("", 7*3600))
	for text, want := range map[string]string{
		"21:04:50": "2026-11-25T21:04:50Z", "21:30:01": "2026-11-24T21:30:01Z", "2026-11-24 01:02:03": "2026-11-24T01:02:03Z", "10m": "2026-11-25T21:20:00Z", "2026-11-22T03:31:09Z": "2026-11-22T03:31:09Z",
	} {
		p := &parameters{values: map[string][]string{"from": {text}}}
		if got := p.when("from", now, now).UTC().Format(time.RFC3339); p.err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, p.err)
		}
	}
}

// TestLossElsewhere: packets that were lost on other paths say nothing of these flows; losses without a place do, unless they name
// all their flows.
func TestLossElsewhere(t *testing.T) {
	place := func(from, to string) []problem.Part {
		return []problem.Part{{What: "from", ID: from}, {What: "to", ID: to}}
	}
	many := make([]string, problem.MostFlows)
	for name, c := range map[string]struct {
		problem problem.Problem
		lost    bool
		shown   int
	}{
		"on the path":             {problem.Problem{Place: place("101", "301")}, true, 1},
		"of its last hop":         {problem.Problem{Place: place("301", "301")}, true, 1},
		"backwards":               {problem.Problem{Place: place("301", "101")}, false, 0},
		"from one to the other":   {problem.Problem{Place: place("101", "302")}, false, 0},
		"elsewhere":               {problem.Problem{Place: place("103", "303")}, false, 0},
		"elsewhere, of this flow": {problem.Problem{Place: place("103", "303"), Evidence: problem.Evidence{Flows: []string{"f"}}}, true, 1},
		"somewhere, of others":    {problem.Problem{Evidence: problem.Evidence{Flows: []string{"g"}}}, false, 0},
		"somewhere, of this flow": {problem.Problem{Evidence: problem.Evidence{Flows: []string{"f"}}}, true, 0},
		"somewhere, of many":      {problem.Problem{Evidence: problem.Evidence{Flows: many}}, true, 0},
		"before":                  {problem.Problem{Place: place("101", "301"), Until: new(time.Unix(5, 0))}, false, 0},
	} {
		c.problem.Kind = problem.LossBetween
		in := &API{Problems: func() []*problem.Problem { return []*problem.Problem{&c.problem} }}
		x := &Incident{From: time.Unix(10, 0), To: time.Unix(20, 0), Flows: []string{"f"}, Paths: []PathItem{
			{Nodes: []pathHopItem{{Node: 101}, {Node: 201}, {Node: 301}}}, {Nodes: []pathHopItem{{Node: 102}, {Node: 302}}},
		}}
		if in.addProblems(x); x.lossNow != c.lost || len(x.Problems) != c.shown {
			t.Errorf("%s: lost %v, %d problems", name, x.lossNow, len(x.Problems))
		}
	}
}

// TestRecordedCommand: the command asks for the flows of the incident, from its begin on, and no more than the sink knows.
func TestRecordedCommand(t *testing.T) {
	for query, want := range map[string]string{
		"flow=udp:10.0.0.1:1024-10.1.0.1:80": "11m --source 10.0.0.1 --destination 10.1.0.1 --protocol 17 --source-port 1024 --destination-port 80 --both-ways",
		"flow=icmp:10.0.0.1-10.1.0.1":        "11m --source 10.0.0.1 --destination 10.1.0.1 --protocol 1 --both-ways",
		"flow=10.0.0.1,10.1.0.0/16":          "11m --source 10.0.0.1 --destination 10.1.0.0/16 --both-ways",
		"host=2001:db8::/32":                 "11m --source 2001:db8::/32 --both-ways",
		"node=7":                             "11m",
	} {
		values, _ := url.ParseQuery(query)
		p := &parameters{values: values}
		_, w, _ := incidentFilters(p)
		if got := w.command(10 * time.Minute); p.err != nil || got != "intsink capture -w incident.pcapng --before "+want {
			t.Errorf("%s: %s (%v)", query, got, p.err)
		}
	}
	for back, want := range map[time.Duration]string{20 * time.Second: "1m", 31 * time.Second: "2m", 24 * time.Hour: "1440m"} {
		if got := (&Wanted{}).command(back); !strings.HasSuffix(got, " --before "+want) {
			t.Errorf("%v: %s", back, got)
		}
	}
	r := &RecordedItem{Since: time.Date(2026, 11, 26, 4, 4, 50, 0, time.UTC)}
	if got := r.Text(r.Since.Add(time.Second)) + r.Text(r.Since.Add(-time.Second)); got != "recorder: no packet of this time\nrecorder: no packet of this time; it reaches back to 04:04:50\n" {
		t.Error(got)
	}
}

// TestNodeThatFlowsLeft: the answer about a flow names a node that is gone, or was, if the flow passes it or has left it: the
// problem, the changes of paths or the flow itself say so. Such a node is never called slow. A flow that left it long before
// has nothing to do with it.
func TestNodeThatFlowsLeft(t *testing.T) {
	since := time.Date(2026, 11, 26, 9, 20, 0, 0, time.UTC)
	way := func(nodes ...uint32) (p inspect.Path) {
		p.Hops = uint16(len(nodes))
		for i, n := range nodes {
			p.Way[i].Node = n
		}
		return p
	}
	old, is := way(102, 203, 302), way(102, 204, 302)
	table := &inspect.Flow{NumPaths: 2}
	table.Paths[1] = flows.LeftPath(1, flows.LongTick(since.UnixNano(), flows.Tick(since.UnixNano())), 0)
	for name, c := range map[string]struct {
		named   []string
		passes  bool
		changed time.Duration // after the node was gone
		knows   bool          // the flow has the way that it took
		until   *time.Time
		title   string
		why     string
	}{
		"named":          {named: []string{"f"}, title: "node 203 is gone: no packet comes through it", why: "node 203 is gone: the last packet came through it at 09:20:00"},
		"passes it":      {passes: true, title: "node 203 is gone: no packet comes through it"},
		"changed":        {changed: time.Second, title: "node 203 is gone: no packet comes through it", why: "node 203 is gone: the last packet came through it at 09:20:00; 1 of these flows left it, for example from 102 > 203 > 302 to 102 > 204 > 302"},
		"changed before": {changed: -time.Hour},
		"itself":         {knows: true, title: "node 203 is gone: no packet comes through it"},
		"is back":        {named: []string{"f"}, until: new(since.Add(time.Minute)), title: "node 203 was gone", why: "node 203 was gone from 09:20:00 to 09:21:00"},
		"of others":      {named: []string{"g"}},
	} {
		gone := &problem.Problem{Kind: problem.NodeGone, Place: []problem.Part{{What: "node", ID: "203"}}, Since: since, Until: c.until, Evidence: problem.Evidence{Flows: c.named}}
		in := &API{
			Problems: func() []*problem.Problem { return []*problem.Problem{gone} },
			Changes: func(see func(time.Time, []string, *inspect.Path, *inspect.Path) bool) {
				if c.changed != 0 {
					see(since.Add(c.changed), []string{"e", "f"}, &old, &is)
				}
			},
		}
		x := &Incident{Flows: []string{"f"}, Paths: []PathItem{newPathItem(0, 0, &is)}, From: since, To: since.Add(5 * time.Minute)}
		if c.passes {
			x.Paths = append(x.Paths, newPathItem(0, 0, &old))
		}
		if c.knows {
			x.addLeft(since.UnixNano(), table, map[uint64]*inspect.Path{0: &is, 1: &old})
		}
		in.addDepartures(x)
		in.addProblems(x)
		x.judge()
		if found := c.title != ""; found != (x.Verdict == "node_gone") || found && (x.Title != c.title || x.At != "node 203") || c.why != "" && !slices.Equal(x.Why, []string{c.why}) {
			t.Errorf("%s: %s, %q, %q", name, x.Verdict, x.Title, x.Why)
		}
	}
}

// TestHeadline: what is wrong now stands before what was, a node that is gone before packets that are lost and those that are late,
// and all that is slow is named, the worst first.
func TestHeadline(t *testing.T) {
	between := []problem.Part{{What: "from", ID: "201"}, {What: "to", ID: "301"}}
	node := func(id string) []problem.Part { return []problem.Part{{What: "node", ID: id}} }
	over := new(time.Unix(15, 0))
	hop := func(at string, worst uint32, now bool) PlaceItem {
		return PlaceItem{Place: at, Kind: "hop", WorstNs: &worst, SlowSteps: 1, Steps: 2, times: float64(worst), slowAtEnd: now}
	}
	for want, x := range map[string]*Incident{
		"packets are lost between node 201 and node 301; node 203 was gone": {Problems: []*problem.Problem{
			{Kind: problem.NodeGone, Place: node("203"), Until: over}, {Kind: problem.LossBetween, Place: between}}},
		"node 203 is gone: no packet comes through it; packets were lost between node 201 and node 301": {Problems: []*problem.Problem{
			{Kind: problem.LossBetween, Place: between, Until: over}, {Kind: problem.NodeGone, Place: node("203")}}},
		"network slow at node 302 and at node 202":               {untilNow: true, Places: []PlaceItem{hop("node 202", 300, true), hop("node 302", 1700, true), hop("node 302", 900, true)}},
		"network slow at node 202; network was slow at node 302": {untilNow: true, Places: []PlaceItem{hop("node 202", 300, true), hop("node 302", 1700, false)}},
		"network was slow from 1 to 2":                           {Places: []PlaceItem{hop("from 1 to 2", 300, true)}},
		"network slow at queue 2 of node 302":                    {Episodes: []*EpisodeItem{{Node: 302, Queue: 2}, {Node: 302, Queue: 2, End: over}}},
		"packets loop at node 7":                                 {Problems: []*problem.Problem{{Kind: problem.Loop, Place: node("7")}}},
		"network slow at a and at b and at c; and 1 more":        {untilNow: true, Places: []PlaceItem{hop("d", 1, true), hop("c", 2, true), hop("b", 3, true), hop("a", 4, true)}},
	} {
		if x.judge(); x.Title != want || x.At == "" {
			t.Errorf("%q at %q, want %q", x.Title, x.At, want)
		}
	}
}
