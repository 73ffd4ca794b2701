package allsinks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
)

// lines are the problems of an answer, short: severity, kind, places, since, until.
func lines(o object) (all []string) {
	for _, p := range objects(o, "items") {
		var at []string
		for _, x := range objects(p, "place") {
			at = append(at, text(x, "what")+" "+shown(x["id"]))
		}
		line := fmt.Sprintf("%s %s at %s since %s", text(p, "severity"), text(p, "kind"), strings.Join(at, ", "), text(p, "since"))
		if p["until"] != nil {
			line += " until " + text(p, "until")
		}
		all = append(all, line)
	}
	return all
}

func (x *network) problems(want ...string) object {
	x.t.Helper()
	_, o := x.get("/api/v1/problems")
	if got := strings.Join(lines(o), "\n"); got != strings.Join(want, "\n") {
		x.t.Fatalf("\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	return o
}

// TestOnePlaceIsOneProblem: what three sinks tell of one queue is one problem, since the earliest, with the bytes of all.
func TestOnePlaceIsOneProblem(t *testing.T) {
	x := newNetwork(t, 3)
	queue := func(id int, since, flow string, bytes, share, value float64) string {
		return problems(strings.Replace(aProblem(id, "queue_congested", "node 302, egress 15, queue 2", since, fmt.Sprintf(`, "unit": "ns", "value": %v, "usual": 1000`, value)),
			`"evidence": {}`, fmt.Sprintf(`"evidence": {"episode": %d, "culprits": [{"flow": %q, "bytes": %v, "share": %v}], "victims": [{"flow": "v", "added_ns": 10}]}`, id, flow, bytes, share), 1))
	}
	x.says(0, "/api/v1/problems", queue(7, "2026-11-28T10:00:03Z", "small", 100, 0.5, 5000))
	x.says(1, "/api/v1/problems", queue(9, "2026-11-28T10:00:01Z", "filler", 1600, 0.8, 9000))
	o := x.problems("error queue_congested at node 302, egress 15, queue 2 since 2026-11-28T10:00:01Z")
	p := objects(o, "items")[0]
	culprits := objects(inner(p, "evidence"), "culprits")
	if len(culprits) != 2 || text(culprits[0], "flow") != "filler" || shown(culprits[0]["bytes"]) != "1600" || fmt.Sprintf("%.3f", amount(culprits[0], "share")) != "0.727" {
		t.Errorf("culprits %v", culprits)
	}
	if v := objects(inner(p, "evidence"), "victims"); len(v) != 1 || shown(v[0]["added_ns"]) != "20" {
		t.Errorf("victims %v", v)
	}
	if told := objects(inner(p, "evidence"), "sinks"); len(told) != 2 || text(told[1], "sink") != x.name(1) && text(told[0], "sink") != x.name(1) {
		t.Errorf("told by %v", told)
	}
	if amount(p, "value") != 9000 || p["partial"] != nil {
		t.Errorf("%v", p)
	}
	id := shown(p["id"])
	x.later()
	x.says(0, "/api/v1/problems", problems())
	if o := x.problems("error queue_congested at node 302, egress 15, queue 2 since 2026-11-28T10:00:01Z"); shown(objects(o, "items")[0]["id"]) != id {
		t.Errorf("another id: %v", objects(o, "items")[0]["id"])
	}
}

// TestWhatIsOfASinkIsAtThatSink: the same trouble of two sinks themselves is two problems.
func TestWhatIsOfASinkIsAtThatSink(t *testing.T) {
	x := newNetwork(t, 2)
	for i := range 2 {
		x.says(i, "/api/v1/problems", problems(aProblem(1, "collector_away", "collector primary", begin, "")))
	}
	_, o := x.get("/api/v1/problems")
	for i, line := range lines(o) {
		if want := "error collector_away at sink " + text(objects(objects(o, "items")[i], "place")[0], "id") + ", collector primary since " + begin; line != want {
			t.Errorf("%s, want %s", line, want)
		}
	}
	if len(objects(o, "items")) != 2 {
		t.Errorf("%v", lines(o))
	}
}

// TestGoneIsWhereNobodySeesIt: a node that another sink sees is not gone; flows go around it.
func TestGoneIsWhereNobodySeesIt(t *testing.T) {
	x := newNetwork(t, 2)
	since := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	x.says(0, "/api/v1/problems", problems(aProblem(1, "node_gone", "node 202", since, "")))
	node := func(seen time.Time, gone bool) string {
		return fmt.Sprintf(`{"items": [{"node": 202, "last_seen": %q, "gone": %v}], "totals": {"nodes": 1, "left_out": 0}}`, seen.UTC().Format(time.RFC3339), gone)
	}
	x.says(1, "/api/v1/nodes", node(time.Now(), false))
	x.problems("warning path_changed at node 202 since " + since)
	x.later()
	x.says(1, "/api/v1/nodes", node(time.Now().Add(-2*time.Minute), false))
	x.problems("error node_gone at node 202 since " + since)
}

// TestSilentSinkIsNamed: a sink that hangs is left out after its limit, named in the answer, and a problem; others' answers stay. It is not waited for
// again until it is back.
func TestSilentSinkIsNamed(t *testing.T) {
	x := newNetwork(t, 3)
	x.sinks.o.Timeout = 100 * time.Millisecond
	x.says(0, "/api/v1/problems", problems(aProblem(1, "slow_hop", "node 202", begin, "")))
	x.get("/api/v1/status")
	hung := x.fakes[2]
	hung.mu.Lock()
	hung.wait = time.Hour
	hung.mu.Unlock()
	for round := range 3 {
		x.later()
		_, o := x.get("/api/v1/problems")
		all := lines(o)
		if len(all) != 2 || !strings.HasPrefix(all[0], "error slow_hop at node 202") || !strings.HasPrefix(all[1], "error sink_away at sink "+x.name(2)) {
			t.Fatalf("round %d: %v", round, all)
		}
		if p := objects(o, "partial"); len(p) != 1 || text(p[0], "sink") != x.name(2) || text(p[0], "why") == "" {
			t.Fatalf("round %d: partial %v", round, o["partial"])
		}
	}
	asked := hung.asked.Load()
	for range 10 {
		x.later()
		x.get("/api/v1/queues")
	}
	if n := hung.asked.Load() - asked; n > 1 {
		t.Errorf("a sink that is away was asked %d times", n)
	}
}

// TestTwoSinksOfOneIdentity: what says that it is a sink that has answered is left out, and told, since it may lie; two processes with one node id
// are told. One host by IPv4 and IPv6, of one name, counts once.
func TestTwoSinksOfOneIdentity(t *testing.T) {
	x := newNetwork(t, 3)
	status := func(node int, started string) string {
		return fmt.Sprintf(`{"now": "NOW", "started": %q, "version": "1.0", "node": %d, "ready": "ok"}`, started, node)
	}
	for i, s := range []string{begin, begin, "2026-11-28T09:00:00Z"} {
		x.says(i, "/api/v1/status", status(7, s))
		x.says(i, "/api/v1/problems", problems(aProblem(1, "table_full", "worker w0", begin, "")))
	}
	x.get("/api/v1/status")
	_, o := x.get("/api/v1/problems")
	all := strings.Join(lines(o), "\n")
	if strings.Count(all, "table_full") != 2 || strings.Count(all, "sink_twice") != 2 || strings.Contains(all, "sink_away") {
		t.Errorf("%v", lines(o))
	}
	if p := objects(o, "partial"); len(p) != 1 || !strings.HasPrefix(text(p[0], "why"), "it says that it is the sink at ") {
		t.Errorf("partial: %v", p)
	}
	same := slices.DeleteFunc(x.sinks.all(), func(s *sink) bool { return s.name == x.name(2) })
	one, two := same[0], same[1]
	two.name, one.of, two.of = "[2001:db8::1]:9465", "sinks.example:9465", "sinks.example:9465"
	if kept := x.sinks.once([]reply{{sink: one}, {sink: two}}); len(kept) != 1 || kept[0].err != nil {
		t.Errorf("of one host by IPv4 and IPv6: %v", kept)
	}
}

// TestNamesAreLookedUpAgain: while a name does not resolve, its sinks stay, and those of other names that are no more do not. A sink that a name does not
// lead to any more stays for an hour if it does not answer: that is what a service's name does when one dies.
func TestNamesAreLookedUpAgain(t *testing.T) {
	x := newNetwork(t, 2)
	of := func(i int) netip.AddrPort { return netip.MustParseAddrPort(x.name(i)) }
	found := map[string][]netip.Addr{"a": {netip.MustParseAddr("192.0.2.1")}, "b": {of(0).Addr()}, "c": {of(1).Addr()}}
	s := &Sinks{c: http.DefaultClient, failed: map[string]string{}, o: Options{Timeout: 50 * time.Millisecond, Now: x.sinks.o.Now, Log: slog.Default}}
	s.o.Addresses = []string{"a:9465", fmt.Sprintf("b:%d", of(0).Port()), fmt.Sprintf("c:%d", of(1).Port())}
	s.o.LookUp = func(_ context.Context, host string) ([]netip.Addr, error) {
		if found[host] == nil {
			return nil, errors.New("no such host")
		}
		return found[host], nil
	}
	look := func(when string, want ...string) {
		t.Helper()
		s.lookUp(t.Context(), false)
		var names []string
		for _, x := range s.all() {
			names = append(names, x.name)
		}
		if slices.Sort(want); !slices.Equal(names, want) {
			t.Errorf("%s: %v, want %v", when, names, want)
		}
	}
	look("at first", "192.0.2.1:9465", x.name(0), x.name(1))
	found["a"], found["b"], found["c"] = nil, []netip.Addr{}, []netip.Addr{}
	x.fakes[1].mu.Lock()
	x.fakes[1].wait = time.Hour // it has died
	x.fakes[1].mu.Unlock()
	look("one does not resolve, one answers, one has died", "192.0.2.1:9465", x.name(1))
	x.now.Add(int64(30 * time.Minute))
	look("half an hour later", "192.0.2.1:9465", x.name(1))
	if err := s.all()[slices.IndexFunc(s.all(), func(k *sink) bool { return k.name == x.name(1) })].away(s.o.Now()); err == nil || !strings.Contains(err.Error(), "leads to it no more") {
		t.Errorf("it is away: %v", err)
	}
	x.now.Add(int64(keepLost))
	look("an hour later", "192.0.2.1:9465")
}

// TestClockThatIsOff: times of a sink whose clock is an hour ahead are shown by ours, and it is told.
func TestClockThatIsOff(t *testing.T) {
	x := newNetwork(t, 2)
	ours := time.Now().UTC().Truncate(time.Second)
	x.says(0, "/api/v1/status", fmt.Sprintf(`{"now": %q, "started": %q, "version": "1.0", "node": 1, "ready": "ok"}`, ours.Add(time.Hour).Format(time.RFC3339), begin))
	x.says(0, "/api/v1/problems", problems(aProblem(1, "slow_hop", "node 202", ours.Add(time.Hour-10*time.Second).Format(time.RFC3339), "")))
	_, o := x.get("/api/v1/problems")
	clock := false
	for _, p := range objects(o, "items") {
		switch since, _ := when(p, "since"); text(p, "kind") {
		case "slow_hop":
			if d := since.Sub(ours.Add(-10 * time.Second)).Abs(); d > 3*time.Second {
				t.Errorf("since %v, %v off", since, d)
			}
		case string(problem.SinkClock):
			clock = strings.Contains(text(p, "what"), "ahead")
		}
	}
	if !clock {
		t.Errorf("%v", lines(o))
	}
}

// TestIncidentHasAProblemOnce: what two sinks tell of one place is one problem of the incident, too, with the number that the list of problems has.
func TestIncidentHasAProblemOnce(t *testing.T) {
	x := newNetwork(t, 2)
	for i := range 2 {
		p := aProblem(7+i, "slow_hop", "node 202", begin, "")
		x.says(i, "/api/v1/problems", problems(p))
		x.says(i, "/api/v1/incident", fmt.Sprintf(`{"from": %q, "to": %q, "about": "flows through node 202", "verdict": "network_slow", "title": "network slow at node 202", "why": [], "problems": [%s], "coverage": {"flows": 3, "gone": 0}}`, begin, begin, p))
	}
	_, list := x.get("/api/v1/problems")
	_, o := x.get("/api/v1/incident?node=202")
	all := objects(o, "problems")
	if len(all) != 1 || len(objects(inner(all[0], "evidence"), "sinks")) != 2 || shown(all[0]["id"]) != shown(objects(list, "items")[0]["id"]) {
		t.Errorf("%v", all)
	}
}

// TestWhyIsOfOneSink: numbers in the text of a problem that sinks tell differently are said to be those of one.
func TestWhyIsOfOneSink(t *testing.T) {
	x := newNetwork(t, 3)
	for i, why := range []string{"23 % of the flows that lost some: 3", "19 % of the flows that lost some: 4", ""} {
		x.says(i, "/api/v1/problems", problems(strings.Replace(aProblem(1, "loss_between", "from 201, to 301", begin, ""), `"evidence": {}`, fmt.Sprintf(`"evidence": {"why": %q}`, why), 1)))
	}
	_, o := x.get("/api/v1/problems")
	e := inner(objects(o, "items")[0], "evidence")
	if first := text(objects(e, "sinks")[0], "sink"); len(objects(o, "items")) != 1 || !strings.HasPrefix(text(e, "why"), "sink ") || first == "" {
		t.Errorf("%v", e)
	}
}

// TestFiltersAreThoseOfASink: what a sink refuses is refused; the kinds that only this page has are known.
func TestFiltersAreThoseOfASink(t *testing.T) {
	x := newNetwork(t, 2)
	x.says(0, "/api/v1/problems", problems(aProblem(1, "slow_hop", "node 202", begin, ""), aProblem(2, "queue_congested", "node 302", begin, "")))
	for query, want := range map[string]string{
		"": "2 of 2", "limit=1": "1 of 2", "kind=slow_hop": "1 of 1", "kind=sink_away,slow_hop&open=true": "1 of 1", "open=false": "0 of 0",
		"kind=slow_hops": "kind = \"slow_hops\": there is ", "limit=1&limit=2": "limit stands there 2 times", "limit=0": "limit = \"0\": must be 1 to 2048",
	} {
		code, o := x.get("/api/v1/problems?" + query)
		got := text(o, "error")
		if code == 200 {
			got = fmt.Sprintf("%d of %s", len(objects(o, "items")), shown(inner(o, "totals")["open"]))
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d %s, want %s", query, code, got, want)
		}
	}
}

// TestBackWhileNobodyLooked: a sink that was away is asked again by the first who looks after a pause; while none answers, the list says when it
// was made.
func TestBackWhileNobodyLooked(t *testing.T) {
	x := newNetwork(t, 1)
	told, said := x.fakes[0].answers["/api/v1/problems"], x.fakes[0].answers["/api/v1/status"]
	for _, path := range []string{"/api/v1/problems", "/api/v1/status", "/api/v1/nodes"} {
		x.says(0, path, "nonsense")
	}
	for range 3 {
		x.later()
		_, o := x.get("/api/v1/problems")
		if at, ok := when(inner(o, "looked"), "at"); len(lines(o)) != 1 || !ok || x.sinks.o.Now().Sub(at).Abs() > time.Minute {
			t.Fatalf("%v, looked %v", lines(o), o["looked"])
		}
	}
	x.says(0, "/api/v1/problems", told)
	x.says(0, "/api/v1/status", said)
	x.says(0, "/api/v1/nodes", `{"items": []}`)
	for s := x.sinks.all()[0]; s.isProbed(); time.Sleep(time.Millisecond) {
	}
	x.now.Add(int64(time.Minute))
	if _, o := x.get("/api/v1/problems"); strings.Contains(strings.Join(lines(o), " "), "sink_away") { // its clock is not that of the test
		t.Errorf("%v", lines(o))
	}
}

func (s *sink) isProbed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probing
}
