package network_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"intsink/cmd/intsink/internal/status"
	"intsink/cmd/intsink/internal/vitals"
	"intsink/conf"
)

// values is a value in a history.
type values struct{ Median, P99, Max []*uint32 }

// TestHistory: what queues, hops and segments did stands in the history, the worst first, with the fault where it was and
// nothing where no packet came; what cannot be answered is said.
func TestHistory(t *testing.T) {
	s := newScene(t, 1, 0xfd00)
	s.pass(8, 0.5)
	began := s.now.Load() / 1e9
	s.fill = true
	s.pass(8, 0.5)
	s.fill = false
	get := func(url string, code int) (a struct {
		StepNs int64 `json:"step_ns"`
		Steps  int
		Items  []struct {
			Node, FromNode *uint32
			Queue          *uint8
			LatencyNs      *values `json:"latency_ns"`
			Occupancy      *values
			Direction      string
			Packets, Bytes []*uint64
			Reports        []*uint64
			Usual          map[string]any
		}
		Totals map[string]int
		Error  string
	}) {
		t.Helper()
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/history/"+url, nil))
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != code {
			t.Fatalf("%s: %d, %v: %.300s", url, w.Code, err, w.Body)
		}
		return a
	}
	a := get("queues?since=60s&sort=occupancy", 200)
	if a.Steps != 60 || a.StepNs != 1e9 || len(a.Items) < 10 || a.Totals["rows"] != len(a.Items) || *a.Items[0].Node != 302 || *a.Items[0].Queue != 2 {
		t.Fatalf("%d steps, %d items", a.Steps, len(a.Items))
	}
	before, during, known, fault := uint32(0), uint32(0), 0, 60-int(s.now.Load()/1e9-began)
	for i, x := range a.Items[0].Occupancy.Max {
		if x != nil {
			known++
			if i < fault {
				before = max(before, *x)
			} else {
				during = max(during, *x)
			}
		}
	}
	if before > 120 || during < 9000 || known < 16 || known > 45 || a.Items[0].Occupancy.Max[0] != nil {
		t.Errorf("occupancy: %d before, %d in the fault, %d steps are known, the first %v", before, during, known, a.Items[0].Occupancy.Max[0])
	}
	if h := get("hops?node=202&since=30s&step=10s&limit=2", 200); h.Steps > 3 || len(h.Items) != 2 || h.Totals["rows"] != 3 || h.Items[0].Occupancy != nil || h.Items[0].LatencyNs == nil {
		t.Errorf("hops: %+v", h)
	}
	if g := get("segments?link=202-302&since=30s", 200); len(g.Items) != 1 || g.Items[0].LatencyNs == nil {
		t.Errorf("segments: %+v", g)
	}
	for packets := range uint64(3) {
		s.now.Add(1e9)
		(&vitals.Server{Config: func() *conf.Config { return &conf.Config{} }}).Count(s.api.Counts, &status.Status{Now: s.api.Now(), Links: []status.Link{{Name: "edge", Directions: []status.Direction{{Direction: "to_host", Received: 1000 * packets}}}}})
	}
	s.now.Add(1e9)
	if l := get("links?since=5s", 200); len(l.Items) != 1 || l.Items[0].Direction != "to_host" || l.Steps != 5 || *l.Items[0].Packets[4-1] != 1000 || l.Items[0].Packets[0] != nil {
		t.Errorf("links: %+v", l)
	}
	if x := get("sink?since=5s", 200); len(x.Items) != 1 || *x.Items[0].Reports[3] != 0 {
		t.Errorf("sink: %+v", x)
	}
	for url, want := range map[string]string{
		"nothing": "queues, hops, segments, paths, links, sink", "queues?since=26h": "25 hours", "queues?step=1ms": "whole seconds", "queues?since=x": "how long ago",
		"queues?limit=1000&since=10m": "lower limit", "hops?sort=occupancy": "must be one of latency",
	} {
		code := 400
		if url == "nothing" {
			code = 404
		}
		if a := get(url, code); !strings.Contains(a.Error, want) {
			t.Errorf("%s: %q", url, a.Error)
		}
	}
}
