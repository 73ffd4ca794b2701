package top

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/client"
)

// TestProblems: what the command prints, in 80 columns, with its exit code; the first lines of status.
func TestProblems(t *testing.T) {
	at := time.Date(2026, 11, 24, 21, 42, 19, 0, time.UTC)
	slow := &problem.Problem{
		ID: 2, Kind: problem.WorkerBehind, Severity: problem.Error, Place: []problem.Part{{What: "node", ID: "202", Name: "spine2"}}, What: "it is slow", Since: at.Add(-90 * time.Second),
		Value: new(1.784e6), Usual: new(1700.0), Unit: "ns", Todo: "look at its queues, and whether something was changed there when it began: intsink top queues",
	}
	lost := &problem.Problem{
		ID: 1, Kind: problem.ReportsLost, Place: []problem.Part{{What: "collector", ID: strings.Repeat("c", 70)}, {What: "reason", ID: "refused"}}, What: "reports are being lost", Since: at.Add(-time.Hour),
		Until: new(at.Add(-10 * time.Minute)), Value: new(44.0), Unit: "reports", Evidence: problem.Evidence{From: "102 > 201", To: "102 > 202"},
	}
	a := &problem.Answer{Items: []*problem.Problem{slow, lost}, Totals: problem.Totals{Open: 1, Ended: 1, Left: 3}}
	want := `! node spine2 (202): it is slow (since 21:40:49 UTC, 1m)
    1.78ms, 1049 x its usual 1.7us
    look at its queues, and whether something was changed there when it began:
    intsink top queues
  collector
    ` + strings.Repeat("c", 70) + `,
    reason refused: reports are being lost (20:42:19 to 21:32:19 UTC, 50m)
    44 reports
    for example from 102 > 201 to 102 > 202
and 3 problems that there was no room for`
	got := problemLines(a, at, nil)
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for _, line := range got {
		if len([]rune(line)) > width80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	if got := problemLines(&problem.Answer{Looked: problem.Looked{Signs: map[string]int{"sink": 40, "network": 2}}}, at, nil); got[0] != "nothing is wrong: 42 signs looked at, at 2026-11-24T21:42:19Z" {
		t.Errorf("%q", got)
	}
	if got := firstLines(&problem.Answer{Items: []*problem.Problem{slow, {Kind: problem.Degraded}}}, at); len(got) != 1 || got[0] != "! node spine2 (202): it is slow (since 21:40:49 UTC, 1m)" {
		t.Errorf("status begins with %q", got)
	}
}

// TestEvidence: flows that there was no room for are counted, and who waits in a queue is not who fills it.
func TestEvidence(t *testing.T) {
	at := time.Date(2026, 11, 24, 0, 0, 9, 0, time.UTC)
	culprit, victim := "udp:10.2.0.19:40055-10.3.2.12:8000", "udp:10.1.0.15:40042-10.3.2.12:8000"
	for want, p := range map[string]*problem.Problem{
		"! it is full (since 2026-11-23 23:59:59 UTC, 10s)\n    filled by " + culprit + " with 94 % of its bytes\n    delays " + victim + " by 1.78ms in all": {
			Since: at.Add(-10 * time.Second), Evidence: problem.Evidence{Culprits: []problem.Culprit{{Flow: culprit, Share: 0.94}}, Victims: []problem.Victim{{Flow: culprit, AddedNs: 9e6}, {Flow: victim, AddedNs: 1784e3}}}},
		"  it is full (2026-11-23 23:59:59 to 00:00:09 UTC, 10s)\n    14 flows\n    a b and 12 more": {
			Since: at.Add(-10 * time.Second), Until: &at, Value: new(14.0), Unit: "flows", Evidence: problem.Evidence{Flows: []string{"a", "b"}}},
		"! it is full (since 00:00:09 UTC, less than a second)\n    2 flows\n    a b":                 {Since: at, Value: new(2.0), Unit: "flows", Evidence: problem.Evidence{Flows: []string{"a", "b"}}},
		"! it is full (since 00:00:09 UTC, less than a second)\n    a b c d e f g h and perhaps more": {Since: at, Evidence: problem.Evidence{Flows: strings.Fields("a b c d e f g h")}},
	} {
		p.What = "it is full"
		if got := strings.Join(Paragraphs([]*problem.Problem{p}, at, nil), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestProblemsOfASink: what is asked for, the exit code, what was not looked at where nothing is wrong, and the JSON as it is.
func TestProblemsOfASink(t *testing.T) {
	asked, answer := "", `{"items": [], "totals": {"open": 0}, "looked": {"at": "2026-11-24T21:42:19Z", "signs": {"sink": 1}}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/status" {
			w.Write([]byte(`{"lacking": {"hop_latency": 60, "queue": 0}}`))
			return
		}
		asked = r.URL.RequestURI()
		w.Write([]byte(answer))
	}))
	defer s.Close()
	run := func(o ProblemOptions) (string, error) {
		var b strings.Builder
		o.Sink = client.Options{URL: s.URL}
		err := Problems(context.Background(), &b, &o)
		return b.String(), err
	}
	if text, err := run(ProblemOptions{}); err != nil || text != "nothing is wrong: 1 sign looked at, at 2026-11-24T21:42:19Z\nthe INT of 60 new flows did not carry hop latency, which a watched event needs: intsink why FLOW says which\n" || asked != "/api/v1/problems?open=true" {
		t.Errorf("%q, %v: %s", text, err, asked)
	}
	answer = `{"items": [{"what": "it is slow"}], "totals": {"open": 1}}`
	if text, err := run(ProblemOptions{All: true, Kind: "loop", JSON: true}); err == nil || !strings.Contains(err.Error(), "1 problem now") || text != answer || asked != "/api/v1/problems?kind=loop" {
		t.Errorf("%q, %v: %s", text, err, asked)
	}
	if _, err := run(ProblemOptions{Since: "2026-11-22T03:31:09Z"}); err == nil || asked != "/api/v1/problems?since=2026-11-22T03%3A31%3A09Z" {
		t.Errorf("%v: %s", err, asked)
	}
	if _, err := run(ProblemOptions{Since: "168h"}); err == nil || !strings.HasPrefix(asked, "/api/v1/problems?since=20") {
		t.Errorf("%v: %s", err, asked)
	}
	if _, err := run(ProblemOptions{Since: "lately"}); err == nil || !strings.Contains(err.Error(), "must be a time") {
		t.Errorf("%v", err)
	}
}
