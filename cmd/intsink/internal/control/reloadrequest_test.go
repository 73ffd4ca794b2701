package control

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"context"
)

// write posts body to path as root on the unix socket.
func write(s *Server, path, body string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	s.Register(mux)
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r = r.WithContext(context.WithValue(r.Context(), whoKey{}, peer{os.Geteuid(), 7}))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// TestReloadRequests: which requests are taken, and the errors of the others.
func TestReloadRequests(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		contains   string
	}{
		{"nothing", ``, 200, ""},
		{"an empty object", `{}`, 200, ""},
		{"files and a trial", `{"name": "new.hcl", "files": [{"name": "new.hcl", "text": "x"}], "confirm": "10m", "limit": {"reports": 2000, "poll_gap": "1ms"}}`, 200, ""},
		{"no JSON", `x`, 400, "invalid character"},
		{"something unknown", `{"force": true}`, 400, "unknown field"},
		{"something behind", `{} {}`, 400, "more follows it"},
		{"a duration without unit", `{"confirm": "10"}`, 400, "is no duration"},
		{"too short", `{"confirm": "10ms"}`, 400, "must be from 1s to 24h"},
		{"too long", `{"confirm": "25h"}`, 400, "must be from 1s to 24h"},
		{"a limit of no trial", `{"limit": {"reports": 1}}`, 400, "goes with confirm"},
		{"a negative limit", `{"confirm": "1m", "limit": {"poll_gap": "-1s"}}`, 400, "must not be negative"},
		{"a dry trial", `{"confirm": "1m", "dry_run": true}`, 400, "nothing to confirm"},
		{"a file without a name", `{"files": [{"text": ""}]}`, 400, "without a name"},
		{"a large configuration", `{"name": "a", "files": [{"name": "a", "text": "` + strings.Repeat("#", 1<<20) + `"}]}`, 200, ""},
		{"more than any", `{"name": "a", "files": [{"name": "a", "text": "` + strings.Repeat("#", 5<<20) + `"}]}`, 400, "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sink, s, _ := server()
			w := write(s, "/api/v1/reload", c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.contains) || (sink.reloads == 1) != (c.status == 200) {
				t.Errorf("%d %.300s, %d reloads", w.Code, w.Body, sink.reloads)
			}
		})
	}
	sink, s, log := server()
	write(s, "/api/v1/reload", `{"name": "new.hcl", "files": [{"name": "new.hcl", "text": "x"}], "confirm": "10m", "limit": {"reports": 2000, "poll_gap": "1ms"}}`)
	q := &sink.asked
	if time.Duration(q.Confirm) != 10*time.Minute || q.Limit.Reports != 2000 || time.Duration(q.Limit.PollGap) != time.Millisecond || q.Files[0] != (File{"new.hcl", "x"}) {
		t.Errorf("%+v", q)
	}
	if !strings.Contains(log.String(), `detail="of \"new.hcl\", on trial for 10m0s"`) {
		t.Errorf("%s", log)
	}
}

// TestConfirmRequests: the answer is 409 if there is nothing to confirm; each request is logged.
func TestConfirmRequests(t *testing.T) {
	_, s, log := server()
	for _, c := range []struct {
		body   string
		status int
	}{{`{"forward": true}`, 400}, {`{"back": true}`, 200}, {``, 409}} {
		if w := write(s, "/api/v1/confirm", c.body); w.Code != c.status {
			t.Errorf("%s: %d %s", c.body, w.Code, w.Body)
		}
	}
	if n := strings.Count(log.String(), `what="POST /api/v1/confirm"`); n != 3 || !strings.Contains(log.String(), "detail=back") {
		t.Errorf("%d lines\n%s", n, log)
	}
}

// TestTrialsAreCounted: trials are counted by how they ended.
func TestTrialsAreCounted(t *testing.T) {
	s := NewState("c.hcl", "abc", time.Unix(1000, 0))
	s.BeginTrial(Trial{BackTo: 1})
	if s.Trial() == nil || s.Trial().BackTo != 1 {
		t.Errorf("%+v", s.Trial())
	}
	s.EndTrial(TrialPollGap, "a gap", time.Unix(7, 0))
	if s.Trial() != nil || s.Trials(TrialPollGap) != 1 || s.Trials(TrialConfirmed) != 0 {
		t.Error("the end is not counted")
	}
	if l := s.LastTrial(); l == nil || l.Generation != 2 || l.BackTo != 1 || l.End != TrialPollGap || l.Why != "a gap" || l.Time != time.Unix(7, 0).UTC() {
		t.Errorf("the last trial: %+v", l)
	}
}

// FuzzReloadRequest: any body gives a request within its bounds, or an error.
func FuzzReloadRequest(f *testing.F) {
	for _, body := range []string{``, `{"name": "a", "files": [{"name": "a", "text": "${"}], "confirm": "10m", "limit": {"reports": 1}}`, `{"confirm": "-1h"}`, `[`, `{"limit":null}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var q Request
		if decode(strings.NewReader(body), &q) != nil || q.Check() != nil {
			return
		}
		if c := time.Duration(q.Confirm); c < 0 || c > maxTrial || q.Limit != nil && (c == 0 || q.Limit.PollGap < 0) {
			t.Fatalf("%+v", q)
		}
	})
}

// FuzzConfirmRequest: any body gives a confirmation or an error.
func FuzzConfirmRequest(f *testing.F) {
	f.Add(``)
	f.Add(`{"back": true}`)
	f.Fuzz(func(t *testing.T, body string) {
		var q Confirmation
		if decode(strings.NewReader(body), &q) == nil && q.Back && !strings.Contains(body, "true") {
			t.Fatalf("%q goes back", body)
		}
	})
}
