package network_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/verdict"
	"intsink/cmd/intsink/internal/flowapi"
)

// ask answers a request that the workers have to answer.
func (s *scene) ask(url string) *httptest.ResponseRecorder {
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		s.mux.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
	}()
	for {
		select {
		case <-done:
			return w
		case <-time.After(50 * time.Microsecond): // the pace of the workers, in the time of the scene
			for _, w := range s.workers {
				w.Tick(s.now.Add(1_000_000))
			}
		}
	}
}

// TestIncidentOfAWayThatBeganLate: of a way through a slow node that no packet took before it was slow nobody knows what is
// usual; it is slow as the others are, nor is that ever learned as usual.
func TestIncidentOfAWayThatBeganLate(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.absent = func(flow int) bool { return flow%3 == 0 && flow/3%4 == 1 } // from leaf 101 by 202
	s.pass(130, 0.5)
	s.slow = true
	s.pass(10, 1)
	s.absent = nil
	s.pass(150, 1)
	s.packet(3)
	w := s.ask("/api/v1/incident?flow=" + s.sources[3].Src.String() + "," + s.sources[3].Dst.String())
	var x flowapi.Incident
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || x.Verdict != verdict.NetworkSlow || x.At != "node 202" {
		t.Errorf("%s at %q: %q (%v)", x.Verdict, x.At, x.Why, err)
	}
}

// TestIncident: with a slow spine and a full queue, flows that they meet hear where and by how much, those that do not hear
// that the network is normal, and those whose INT is cut, that nobody knows, that nobody can say.
func TestIncident(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.cut = 1
	s.pass(120, 0.2)
	s.slow, s.fill = true, true
	s.pass(20, 1)
	address := func(flow int) string {
		s.packet(flow)
		return s.sources[flow].Src.String() + "," + s.sources[flow].Dst.String()
	}
	for name, c := range map[string]struct{ query, verdict, at, why string }{
		"by the slow spine":    {"flow=" + address(3), verdict.NetworkSlow, "node 202", "x its usual"},
		"in the full queue":    {"flow=" + address(60), verdict.NetworkSlow, "node 302", "udp:10.0.0.61:1060-10.9.0.61:80 filled it"},
		"by another spine":     {"flow=" + address(6), verdict.NetworkNormal, "", "none was slow"},
		"its INT is cut":       {"flow=" + address(1), verdict.CannotSay, "", "the path of 1 of 1 flows is not known"},
		"nobody knows it":      {"flow=192.0.2.1,192.0.2.2", verdict.CannotSay, "", "no such flow is known"},
		"the slow node":        {"node=202", verdict.NetworkSlow, "node 202", "x its usual"},
		"a host":               {"host=10.0.0.4", verdict.NetworkSlow, "node 202", "x its usual"},
		"before it was slow":   {"flow=" + address(3) + "&from=2m&to=40s", verdict.NetworkNormal, "", "none was slow"},
		"not so long ago":      {"host=10.0.0.4&from=20s", verdict.NetworkSlow, "node 202", ""},
		"a day of which 2 min": {"flow=" + address(3) + "&from=23h", verdict.NetworkSlow, "node 202", ""},
	} {
		w := s.ask("/api/v1/incident?" + c.query)
		var x flowapi.Incident
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || w.Code != 200 {
			t.Errorf("%s: %d %v: %.200s", name, w.Code, err, w.Body)
			continue
		}
		if x.Verdict != c.verdict || c.at != "" && !strings.HasSuffix(x.At, c.at) || !strings.Contains(strings.Join(x.Why, "; "), c.why) {
			t.Errorf("%s: %s %q %q, want %s %q %q", name, x.Verdict, x.At, x.Why, c.verdict, c.at, c.why)
		}
	}
	for query, want := range map[string]string{"": "one of", "host=10.0.0.1&node=3": "one of", "flow=10.0.0.1": "two addresses", "host=x": "an address", "node=1&from=48h": "further back", "node=1&x=1": "known are", "node=1&format=pdf": "json, text, html"} {
		if w := s.ask("/api/v1/incident?" + query); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
	for format, want := range map[string][2]string{"text": {"text/plain; charset=utf-8", "network slow at node 202 and at queue 2 of node 302\n"}, "html": {"text/html; charset=utf-8", "<h1>network slow at node 202 and at queue 2 of node 302</h1>"}} {
		w := s.ask("/api/v1/incident?node=202&format=" + format)
		h := w.Result().Header
		if h.Get("Content-Type") != want[0] || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(w.Body.String(), want[1]) {
			t.Errorf("%s: %v\n%s", format, h, w.Body)
		}
	}
}

// TestIncidentOfFlowsThatEnded: what is kept of a time names flows that are in no table any more: who filled a queue, and what
// way a flow took that changed it; of others it is said that nobody knows them.
func TestIncidentOfFlowsThatEnded(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.pass(120, 0.2)
	s.fill, s.move = true, true
	s.pass(20, 1)
	s.fill, s.absent = false, func(flow int) bool { return flow == 60 || flow == 6 || flow == 9 || flow/3%4 == 0 }
	ended, _ := s.network.Seen(201)
	s.pass(60, 0.2)
	var x flowapi.Incident
	if err := json.Unmarshal(s.ask("/api/v1/incident?node=201").Body.Bytes(), &x); err != nil || x.Verdict != verdict.CannotSay || len(x.Why) != 1 || !strings.HasSuffix(x.Why[0], "the last packet came through it at "+ended.UTC().Format("15:04:05")) {
		t.Errorf("of a node whose flows ended at %v: %s, %q (%v)", ended, x.Verdict, x.Why, err)
	}
	for name, c := range map[string]struct {
		flow                 int
		query, verdict, says string
		gone, paths          int
	}{
		"filled a queue":          {60, "from=5m", verdict.NetworkSlow, "udp:10.0.0.61:1060-10.9.0.61:80 filled it", 1, 0},
		"changed its way":         {6, "from=5m", "node_gone", "1 of these flows left it, for example from 101 > 203 > 301 to 101 > 204 > 301", 1, 1},
		"long before":             {60, "from=5m&to=2m", verdict.CannotSay, "no such flow is known", 0, 0},
		"nothing happened to it":  {9, "from=5m", verdict.CannotSay, "no such flow is known", 0, 0},
		"one that is still there": {3, "from=5m", verdict.NetworkNormal, "none was slow", 0, 1},
	} {
		s.packet(c.flow)
		w := s.ask("/api/v1/incident?flow=" + s.sources[c.flow].Src.String() + "," + s.sources[c.flow].Dst.String() + "&" + c.query)
		var x flowapi.Incident
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || x.Verdict != c.verdict || !strings.Contains(strings.Join(x.Why, "; "), c.says) || x.Coverage.Gone != c.gone || len(x.Flows) != x.Coverage.Flows+c.gone || len(x.Paths) != c.paths {
			t.Errorf("%s: %s %q, %+v, %d paths (%v), want %s %q, %d gone", name, x.Verdict, x.Why, x.Coverage, len(x.Paths), err, c.verdict, c.says, c.gone)
		}
	}
}

// TestIncidentOfADeadNode: each flow that left a node that died is told so, soon after and later, whether or not the problem names
// it; once the node is back it is told that it was gone; a flow that has nothing to do with it is told that the network is normal.
func TestIncidentOfADeadNode(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.pass(120, 0.2)
	verdictOf := func(flow int) *flowapi.Incident {
		s.packet(flow)
		var x flowapi.Incident
		w := s.ask("/api/v1/incident?from=1m&flow=" + s.sources[flow].Src.String() + "," + s.sources[flow].Dst.String())
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		return &x
	}
	each := func(when, want, why string) {
		t.Helper()
		for flow := range 60 {
			if flow/3%4 != 2 { // not by 203
				continue
			}
			if x := verdictOf(flow); x.Title != want || !strings.Contains(strings.Join(x.Why, "; "), why) {
				t.Errorf("%s, flow %d: %q, %q", when, flow, x.Title, x.Why)
			}
		}
	}
	s.move = true
	s.pass(10, 1)
	each("10 s after", "node 203 is gone: no packet comes through it", "of these flows left it, for example from ")
	if x := verdictOf(6 + 3); x.Verdict != verdict.NetworkNormal { // by 204 before
		t.Errorf("%s, %q", x.Title, x.Why)
	}
	s.pass(150, 0.2)
	each("later", "node 203 is gone: no packet comes through it", "of these flows left it")
	s.move = false
	s.pass(12, 1)
	each("it is back", "node 203 was gone", "node 203 was gone from ")
}

// TestIncidentWeighsByTime: of a quarter of an hour, in whose last seconds a node was slow, only these count as slow, at whatever
// second of a minute it is asked; the median is that of the quarter.
func TestIncidentWeighsByTime(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.pass(800, 0.05)
	s.slow = true
	began := s.now.Load()
	for range 4 {
		s.pass(9, 0.5)
		slow := int((s.now.Load()-began)/1e9) + 1
		var x flowapi.Incident
		w := s.ask("/api/v1/incident?node=202&from=15m")
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		for _, p := range x.Places {
			if p.Kind == "hop" && (p.Steps < 500 || p.SlowSteps > slow || p.SlowSteps == 0 || p.MedianNs == nil || *p.MedianNs > 10_000) {
				t.Errorf("%s: slow for %s, in truth %ds, median %d", p.Place, p.Slow(), slow, *p.MedianNs)
			}
		}
	}
}

// TestIncidentCompares a time with an earlier one: where it takes longer now, and where nothing is known of then.
func TestIncidentCompares(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.pass(200, 0.2)
	s.slow = true
	s.pass(120, 0.5)
	get := func(query string) (x flowapi.Incident, body string) {
		w := s.ask("/api/v1/incident?node=202&" + query)
		if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
			t.Fatal(err, w.Body.String())
		}
		return x, w.Body.String()
	}
	x, _ := get("from=1m&compare=4m")
	if why := strings.Join(x.Why, "; "); x.ComparedNs != int64(4*time.Minute) || !strings.Contains(why, "node 202: median 3") || !strings.Contains(why, "4m before it was 4.") || !strings.Contains(why, "less than twice as long as 4m before") {
		t.Errorf("%q", why)
	}
	for _, p := range x.Places {
		if p.Before == nil || p.Kind == "hop" && (p.Before.MedianNs == nil || *p.Before.MedianNs > 10_000) {
			t.Errorf("%+v before: %+v", p, p.Before)
		}
	}
	if x, _ = get("from=1m&compare=24h"); !strings.Contains(strings.Join(x.Why, "; "), "24h before nothing is known of any of these places") {
		t.Errorf("%q", x.Why)
	}
	if x, _ = get("from=1m"); strings.Contains(strings.Join(x.Why, "; "), "before") || x.Places[0].Before != nil {
		t.Errorf("%q, %+v", x.Why, x.Places[0])
	}
	for query, want := range map[string]string{"compare=x": "such as 24h", "compare=1s": "a minute at least", "from=2h&compare=24h": "is kept for 25 hours"} {
		if _, body := get(query); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", query, body, want)
		}
	}
	from := s.api.Now().Add(-time.Minute).UTC().Format("2006-01-02+15:04:05+UTC")
	if x, body := get("from=" + from); len(x.Places) == 0 {
		t.Errorf("from %s: %s", from, body)
	}
}
