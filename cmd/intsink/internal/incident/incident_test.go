package incident

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/internal/verdict"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/flowapi"
	"intsink/cmd/intsink/internal/names"
)

// answer is one of a sink, with text of somebody who writes HTML.
func answer() *flowapi.Incident {
	v := func(n uint32) *uint32 { return &n }
	at := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	return &flowapi.Incident{
		From: at, To: at.Add(10 * time.Minute), About: "flows of 10.0.0.4", Verdict: verdict.NetworkSlow, At: "node 202", Title: "network slow at node 202", Why: []string{"node 202: 306us, 66 x its usual 4.61us <b>"},
		Paths:    []flowapi.PathItem{{ID: "570a954f16dea0e0"}},
		Places:   []flowapi.PlaceItem{{Place: "node 202", Kind: "hop", UsualNs: v(4610), MedianNs: v(4620), WorstNs: v(5000), SlowSteps: 0, Steps: 160}, {Place: "node 202", Kind: "hop", WorstNs: v(306_000), UsualNs: v(4610), MedianNs: v(4863), P99Ns: v(326_000), MaxNs: v(306_000), SlowSteps: 24, Steps: 163}, {Place: "node 101", Kind: "hop"}},
		Problems: []*problem.Problem{{ID: 3, Kind: problem.SlowHop, Place: []problem.Part{{What: "node", ID: "202"}}, What: "packets take longer", Since: at}},
		Recorded: &flowapi.RecordedItem{Packets: 37, From: new(at.Add(9 * time.Second)), To: new(at.Add(time.Minute)), Since: at.Add(5 * time.Second), Command: "intsink capture -w incident.pcapng --before 11m --source 2001:db8::1 --destination 2001:db8::2 --both-ways"},
		Coverage: flowapi.CoverageItem{Flows: 1, Gone: 2, Places: 3, Told: 1, Missed: 94319},
	}
}

// TestPage: the page begins with the verdict, has the numbers, and as HTML nothing in it is taken for a tag; JSON is the
// sink's own; what is asked for goes to the sink as it is, and a question without, or with two subjects, is refused.
func TestPage(t *testing.T) {
	asked := ""
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/names" {
			http.NotFound(w, r) // as a sink before there were names
			return
		}
		asked = r.URL.String()
		json.NewEncoder(w).Encode(answer())
	}))
	defer sink.Close()
	run := func(format string, o Options) (string, error) {
		var out bytes.Buffer
		o.Sink = client.Options{URL: sink.URL, Format: format}
		err := Run(context.Background(), &out, &o)
		return out.String(), err
	}
	text, err := run("text", Options{Host: "10.0.0.4", From: "1h", To: "30m"})
	if err != nil || asked != "/api/v1/incident?from=1h&host=10.0.0.4&to=30m" {
		t.Fatalf("%v, %s", err, asked)
	}
	for _, want := range []string{"network slow at node 202\n\n", "2026-11-24 09:00:00 to 2026-11-24 09:10:00 UTC", "4.61us", "24s of 2m43s  2 ways\n", "node 101  -", "problem 3, 09:00:00 to now: node 202", "recorder: 37 packets, 09:00:09 to 09:01:00; it reaches back to 09:00:05\n  > intsink capture -w incident.pcapng --before 11m --source 2001:db8::1 --destination 2001:db8::2 --both-ways\n", "\n1 path of unknown nodes\n", "; the sink itself missed 94319 packets; 0 packets lost\n", "coverage: 1 flow, 2 more that ended, 0 of unknown path; 1 of 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > 81 && !strings.HasPrefix(line, "  > ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(text, "\nnode 202 "); n != 1 {
		t.Errorf("%d rows of node 202\n%s", n, text)
	}
	if page, err := run("html", Options{Node: "202"}); err != nil || strings.Contains(page, "<b>") || !strings.Contains(page, "<h1>network slow at node 202</h1>") || !strings.Contains(page, "&lt;b&gt;") {
		t.Errorf("%v\n%s", err, page)
	}
	if body, err := run("json", Options{Flow: "10.0.0.4,10.1.0.4"}); err != nil || !json.Valid([]byte(body)) {
		t.Errorf("%v\n%s", err, body)
	}
	for _, o := range []Options{{}, {Host: "x", Node: "1"}} {
		if _, err := run("text", o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestNames: nodes have their names in the page, whose problems stay as they were: others read them.
func TestNames(t *testing.T) {
	x, book := answer(), &names.Book{Nodes: map[uint32]names.Node{202: {Name: "spine2"}, 9: {Name: "no"}}}
	x.Places = append(x.Places, flowapi.PlaceItem{Place: "from 101 to 202"})
	text := Page(x, "text", book)
	for _, want := range []string{"network slow at node spine2\n\n", "  node spine2: 306us, 66 x", "\nfrom 101 to spine2  -", "\nproblem 3, 09:00:00 to now: node spine2 (202): ", " 09:00:00 to 2026-11-24"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if got := x.Problems[0].Place[0].Name; got != "" {
		t.Errorf("the problem has the name %q now", got)
	}
}
