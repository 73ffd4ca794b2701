package allsinks

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// items are the ids of an answer, with the fields of these names.
func (x *network) items(path string, fields ...string) string {
	x.t.Helper()
	_, o := x.get(path)
	var all []string
	for _, i := range objects(o, "items") {
		line := shown(i["id"])
		for _, f := range fields {
			if s, is := i[f].([]any); is {
				line += fmt.Sprintf(" %s of %d", f, len(s))
			} else {
				line += fmt.Sprintf(" %s %v", f, i[f])
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func is(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}

// TestFlowsOfAllSinks: the flows with the most packets of all, as many as asked for, each with its sink; the next page goes on from there.
func TestFlowsOfAllSinks(t *testing.T) {
	x := newNetwork(t, 2)
	flow := func(id string, packets int) string { return fmt.Sprintf(`{"id": %q, "packets": %d}`, id, packets) }
	page := func(next string, flows ...string) string {
		return fmt.Sprintf(`{"items": [%s], "next": %q, "totals": {"flows": 5, "packets": 100}}`, strings.Join(flows, ","), next)
	}
	x.says(0, "/api/v1/flows", page("more", flow("a", 50), flow("b", 20)))
	x.says(1, "/api/v1/flows", page("", flow("c", 40), flow("d", 30)))
	is(t, x.items("/api/v1/flows?limit=2", "packets", "sink"), fmt.Sprintf("a packets 50 sink %s\nc packets 40 sink %s", x.name(0), x.name(1)))
	_, o := x.get("/api/v1/flows?limit=2")
	if o["next"] == nil || amount(inner(o, "totals"), "flows") != 10 {
		t.Errorf("%v", o)
	}
	if _, err := url.Parse(text(o, "next")); err != nil {
		t.Error(err)
	}
}

// TestPlacesAreOne: a queue that two sinks see is one, as it is where it is worst, with what is usual there; a path's flows are added up.
func TestPlacesAreOne(t *testing.T) {
	x := newNetwork(t, 2)
	queue := func(latency, usual int, congested bool) string {
		return fmt.Sprintf(`{"items": [{"id": "302:15:2", "node": 302, "egress": 15, "queue": 2, "latency_ns": %d, "occupancy": %d, "congested": %v, "episodes": 2, "usual": {"latency_ns": %d}, "new_field": %d}], "totals": {"rows": 1}}`, latency, latency/2, congested, usual, latency)
	}
	x.says(0, "/api/v1/queues", queue(9000, 1700, true))
	x.says(1, "/api/v1/queues", queue(1500, 1600, false))
	is(t, x.items("/api/v1/queues?sort=latency", "latency_ns", "congested", "sinks", "new_field"), "302:15:2 latency_ns 9000 congested true sinks of 2 new_field 9000")
	path := `{"items": [{"id": "570a", "hops": 3, "nodes": [], "flows": 6, "packets": 100, "bytes": 18446744073709551615, "max_latency_ns": 5, "congested": false}], "totals": {"paths": 1, "flows": 6}}`
	x.says(0, "/api/v1/paths", path)
	x.says(1, "/api/v1/paths", path)
	is(t, x.items("/api/v1/paths", "flows", "packets"), "570a flows 12 packets 200")
	_, o := x.get("/api/v1/paths")
	if amount(inner(o, "totals"), "paths") != 1 || amount(inner(o, "totals"), "flows") != 12 {
		t.Errorf("totals %v", o["totals"])
	}
}

// TestEpisodesOfOneTimeAreOne: of one queue; who filled it and who waited are those of both sinks.
func TestEpisodesOfOneTimeAreOne(t *testing.T) {
	x := newNetwork(t, 2)
	episode := func(begin, end, flow string, bytes int) string {
		return fmt.Sprintf(`{"items": [{"id": 3, "node": 302, "egress": 15, "queue": 2, "begin": %q, "end": %s, "packets": 10, "bytes": %d, "peak_latency_ns": %d, "culprits": [{"flow": %q, "bytes": %d, "over": 0, "share": 1}], "victims": [], "windows": []}], "totals": {"rows": 1, "open": 0, "ended": 1}}`, begin, end, bytes, bytes, flow, bytes)
	}
	x.says(0, "/api/v1/episodes", episode("2026-11-28T10:00:00Z", `"2026-11-28T10:00:05Z"`, "small", 100))
	x.says(1, "/api/v1/episodes", episode("2026-11-28T10:00:02Z", `"2026-11-28T10:00:09Z"`, "filler", 900))
	_, o := x.get("/api/v1/episodes")
	all := objects(o, "items")
	if len(all) != 1 || text(all[0], "begin") != "2026-11-28T10:00:00Z" || text(all[0], "end") != "2026-11-28T10:00:09Z" || amount(all[0], "bytes") != 1000 || amount(all[0], "peak_latency_ns") != 900 {
		t.Fatalf("%v", all)
	}
	if c := objects(all[0], "culprits"); len(c) != 2 || text(c[0], "flow") != "filler" || amount(c[0], "share") != 0.9 {
		t.Errorf("culprits %v", all[0]["culprits"])
	}
	x.later()
	x.says(1, "/api/v1/episodes", episode("2026-11-28T10:01:00Z", "null", "filler", 900))
	if _, o := x.get("/api/v1/episodes"); len(objects(o, "items")) != 2 {
		t.Errorf("%v", o["items"])
	}
}

// TestWhoFillsItOverAllSinks: hosts and services count by the bytes of the sink that tells of them, a host stands before its flows, and a doubt that one sink
// has alone is none where another has none.
func TestWhoFillsItOverAllSinks(t *testing.T) {
	x := newNetwork(t, 2)
	evidence := func(bytes int, culprits, more string) string {
		return fmt.Sprintf(`, "evidence": {"episode": 4, "bytes": %d, "added_ns": 50, "full_ns": 7, "culprits": [%s]%s}`, bytes, culprits, more)
	}
	of := func(e string) string {
		return problems(strings.Replace(aProblem(1, "queue_congested", "node 202, egress 2, queue 0", begin, ""), `, "evidence": {}`, e, 1))
	}
	x.says(0, "/api/v1/problems", of(evidence(900, `{"host": "10.0.0.1", "bytes": 900, "share": 1}, {"flow": "a", "bytes": 90, "share": 0.1}`,
		`, "hosts": [{"name": "10.0.0.1", "share": 1, "added_ns": 5}], "services": [{"name": "tcp/443", "share": 0.5, "added_ns": 5}], "now": [{"flow": "a", "bytes": 10, "share": 0.5}]`)))
	x.says(1, "/api/v1/problems", of(evidence(100, "", `, "doubt": "packets of one address alone waited in it", "hosts": [{"name": "10.0.0.1", "share": 0.5, "added_ns": 2}]`)))
	_, o := x.get("/api/v1/problems")
	e := inner(objects(o, "items")[0], "evidence")
	is(t, fmt.Sprint(e["culprits"], e["hosts"], e["services"], e["now"]), "[map[bytes:900 host:10.0.0.1 share:0.9] map[bytes:90 flow:a share:0.09]] [map[added_ns:7 name:10.0.0.1 share:0.95]] "+
		"[map[added_ns:5 name:tcp/443 share:0.45]] [map[bytes:10 flow:a share:0.5]]")
	is(t, fmt.Sprint(e["bytes"], e["added_ns"], e["full_ns"], e["doubt"], e["episode"], e["victims"]), "10001007<nil> <nil> <nil>")
}

// TestOneFlow: the flow as the sink has it that saw it last; a flow that nobody knows is not there, and who was not asked is said.
func TestOneFlow(t *testing.T) {
	x := newNetwork(t, 2)
	x.says(1, "/api/v1/flows/a", `{"id": "a", "last_seen": "2026-11-28T10:00:00Z"}`)
	if code, o := x.get("/api/v1/flows/a"); code != 200 || text(o, "sink") != x.name(1) || o["partial"] != nil {
		t.Errorf("%d %v", code, o)
	}
	if code, o := x.get("/api/v1/flows/b"); code != 404 || !strings.Contains(text(o, "error"), "no such thing") {
		t.Errorf("%d %v", code, o)
	}
	x.fakes[0].CloseClientConnections()
	x.fakes[0].Config.Close()
	if code, o := x.get("/api/v1/flows/c"); code != 404 || !strings.Contains(text(o, "error"), "1 of 2 sinks did not answer") {
		t.Errorf("%d %v", code, o)
	}
}

// TestHistoryByStep: answers that begin at other times are put together by step.
func TestHistoryByStep(t *testing.T) {
	x := newNetwork(t, 3)
	history := func(begin string, median, most int) string {
		return fmt.Sprintf(`{"begin": %q, "step_ns": 1000000000, "steps": 2, "items": [{"node": 302, "egress": 15, "queue": 2, "latency_ns": {"median": [%d, null], "max": [%d, %d]}, "usual": {"latency_ns": 5}}]}`, begin, median, most, most)
	}
	x.says(0, "/api/v1/history/queues", history("2026-11-28T10:00:00Z", 10, 100))
	x.says(1, "/api/v1/history/queues", history("2026-11-28T10:00:01Z", 20, 200))
	x.says(2, "/api/v1/history/queues", history("2026-11-28T10:00:01Z", 30, 50))
	_, o := x.get("/api/v1/history/queues?since=10m")
	l := inner(objects(o, "items")[0], "latency_ns")
	is(t, fmt.Sprint(o["begin"], o["steps"], l["median"], l["max"]), "2026-11-28T10:00:00Z3[10 30 <nil>] [100 200 200]")
}

// TestWasItTheNetwork: what one sink finds decides; normal is said only where all answered that saw something.
func TestWasItTheNetwork(t *testing.T) {
	x := newNetwork(t, 2)
	answer := func(verdict, title string, flows int) string {
		return fmt.Sprintf(`{"from": %q, "to": %q, "about": "host 10.0.0.1", "verdict": %q, "title": %q, "why": [%q], "flows": [], "paths": [], "places": [], "problems": [], "episodes": [], "recorded": null, "lost": 1, "coverage": {"flows": %d, "gone": 0}}`, begin, begin, verdict, title, title, flows)
	}
	ask := func(want, title string) {
		t.Helper()
		x.later()
		_, o := x.get("/api/v1/incident?host=10.0.0.1")
		is(t, text(o, "verdict")+": "+text(o, "title"), want+": "+title)
	}
	x.says(0, "/api/v1/incident", answer("network_normal", "network normal: look at the hosts", 5))
	x.says(1, "/api/v1/incident", answer("network_slow", "network slow at node 202", 3))
	ask("network_slow", "network slow at node 202")
	x.says(1, "/api/v1/incident", answer("cannot_say", "no such flow is known", 0))
	ask("network_normal", "network normal: look at the hosts")
	x.says(0, "/api/v1/incident", answer("cannot_say", "no such flow is known", 0))
	ask("cannot_say", "no such flow is known")
	x.says(0, "/api/v1/incident", answer("network_normal", "network normal: look at the hosts", 5))
	x.says(1, "/api/v1/incident", `no JSON`)
	ask("cannot_say", "not all sinks answered: 1 of 2 did")
}

// TestHostileSinks: whatever a sink answers, the others' answers stand, and its own is bounded and named.
func TestHostileSinks(t *testing.T) {
	for name, bad := range map[string]string{
		"no JSON":      "<html>",
		"a list":       "[]",
		"null":         "null",
		"deep":         strings.Repeat(`{"items":[`, 200) + strings.Repeat(`]}`, 200),
		"long":         `{"items": [], "x": "` + strings.Repeat("a", maxAnswer) + `"}`,
		"cut":          `{"items": [{"id": 1`,
		"wrong types":  `{"items": [1, "x", null, [], {"place": 1, "evidence": [], "since": 5, "until": {}, "value": "x", "id": {}}], "totals": [], "looked": 1}`,
		"many":         `{"items": [` + strings.Repeat(`{"id": 1, "kind": "k", "place": [{"what": "node", "id": "1"}], "since": "2026-11-28T10:00:00Z"},`, 20_000) + `{}]}`,
		"other ages":   `{"items": [{"id": 1, "kind": "usual_changed", "place": [], "since": "9999-12-31T23:59:59Z", "until": "0001-01-01T00:00:00Z"}, {"id": -1, "kind": "", "since": "x"}]}`,
		"twice a key":  `{"items": [{"id": 1}], "items": {"id": 2}, "totals": {"flows": 1}, "totals": -1}`,
		"no numbers":   `{"items": [{"id": 9223372036854775808, "first": 18446744073709551616, "packets": -5, "share": NaN}]}`,
		"a page":       `{"items": [{"id": "<script>alert(1)</script>", "node": "<img src=x onerror=alert(1)>", "flow": "javascript:alert(1)", "place": [{"what": "<b>", "id": "\u0000"}]}]}`,
		"nested keys":  `{"items": [{"place": [{"what": {"what": {}}, "id": [[]]}], "evidence": {"culprits": [[[]]], "flows": {"a": 1}}, "usual": {"latency_ns": {"x": []}}}]}`,
		"huge numbers": `{"items": [{"kind": "k", "place": [{"what": "node", "id": "1"}], "since": "2026-11-28T10:00:00Z", "value": 1e999, "usual": -1e308, "evidence": {"culprits": [{"flow": "f", "bytes": 1e999, "share": 1e-300}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			x := newNetwork(t, 2)
			x.says(0, "/api/v1/problems", problems(aProblem(1, "slow_hop", "node 202", begin, "")))
			lists := []string{"flows", "queues", "episodes", "paths", "changes"}
			for _, path := range lists {
				x.says(0, "/api/v1/"+path, `{"items": [], "totals": {}}`)
				x.says(1, "/api/v1/"+path, bad)
			}
			for path := range x.fakes[1].answers {
				x.says(1, path, bad)
			}
			for _, path := range append(lists, "problems", "status", "sinks", "nodes") {
				code, o := x.get("/api/v1/" + path)
				if code != 200 || o == nil {
					t.Errorf("%s: %d %v", path, code, o)
				}
			}
			_, o := x.get("/api/v1/problems")
			if !strings.Contains(strings.Join(lines(o), "\n"), "slow_hop at node 202") {
				t.Errorf("%v", lines(o))
			}
		})
	}
}

// TestTextsAreClean: what a sink says has no control characters, nor those that turn the direction of writing, and is bounded.
func TestTextsAreClean(t *testing.T) {
	x := newNetwork(t, 1)
	x.says(0, "/api/v1/problems", problems(strings.Replace(aProblem(1, "slow_hop", "node 202", begin, ""), `"is wrong"`, `"\u001b[31mred\u202e\u0007`+strings.Repeat("x", 5000)+`"`, 1)))
	_, o := x.get("/api/v1/problems")
	what := text(objects(o, "items")[0], "what")
	if !strings.HasPrefix(what, "?[31mred??x") || len(what) > maxText+10 {
		t.Errorf("%d bytes: %.40q", len(what), what)
	}
}

// TestManyLookersAskOnce: however many people look, a sink is asked the same once a second.
func TestManyLookersAskOnce(t *testing.T) {
	x := newNetwork(t, 1)
	for range 50 {
		x.get("/api/v1/queues")
		x.get("/api/v1/problems")
	}
	if n := x.fakes[0].asked.Load(); n > 4 { // status, problems, nodes, queues
		t.Errorf("asked %d times", n)
	}
}

// TestNothingIsChanged: what changes a sink is refused, and says where to ask.
func TestNothingIsChanged(t *testing.T) {
	x := newNetwork(t, 1)
	if code, o := x.get("/api/v1/config"); code != 404 || !strings.Contains(text(o, "error"), "ask the sink itself") {
		t.Errorf("%d %v", code, o)
	}
	if code, o := x.get("/api/v1/problems?kindd=x"); code != 400 {
		t.Errorf("%d %v", code, o)
	}
}

// TestOlderSink: one that does not know a question is named, and the others' answers stand.
func TestOlderSink(t *testing.T) {
	x := newNetwork(t, 2)
	x.says(0, "/api/v1/interfaces", `{"items": [{"node": 101, "egress": 2, "tx_utilization": 45}], "totals": {"rows": 1}}`)
	_, o := x.get("/api/v1/interfaces")
	if p := objects(o, "partial"); len(objects(o, "items")) != 1 || len(p) != 1 || text(p[0], "sink") != x.name(1) {
		t.Errorf("%v", o)
	}
}
