package network

import (
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/engine/clock"
)

// TestClockSigns: a wrong clock is a problem of its node with how much and which way; neighbours that disagree are one of both; where
// many clocks are wrong, there is one for all.
func TestClockSigns(t *testing.T) {
	verdict := func(node uint32, offset, drift int64) clock.Verdict {
		return clock.Verdict{Node: node, Offset: offset, Drift: drift, Since: 1e18, Pairs: 5}
	}
	many := make([]clock.Verdict, mostClocks+1)
	for i := range many {
		many[i] = verdict(uint32(201+i), int64(1e6*(i+1)), 0)
	}
	for _, c := range []struct {
		clocks Clocks
		place  string
		value  float64
		why    string
	}{
		{Clocks{Wrong: []clock.Verdict{verdict(202, -5e6, 0)}}, "node 202", 5e6, "5ms behind, by 5 neighbours"},
		{Clocks{Wrong: []clock.Verdict{verdict(202, 5e6, 200_000)}}, "node 202", 5e6, "5ms ahead, by 5 neighbours; it drifts by 200us a second"},
		{Clocks{Apart: []clock.Disagreement{{From: 101, To: 202, Ns: -7e5, Since: 1e18}}}, "between node 101 and node 202", 7e5, "packets seem to reach node 202 before they leave node 101"},
		{Clocks{Wrong: many}, "", 9e6, "9 clocks are wrong, that of node 209 by most"},
	} {
		signs := c.clocks.signs(func(uint32) bool { return true })
		if len(signs) != 1 {
			t.Fatalf("%+v: %d signs", c.clocks, len(signs))
		}
		s := &signs[0]
		p := problem.Problem{Place: s.Place}
		if s.Kind != problem.ClockWrong || p.Where() != c.place || *s.Value != c.value || !strings.HasPrefix(s.Evidence.Why, c.why) || s.Since.UnixNano() != 1e18 {
			t.Errorf("%+v: at %q, %v, %q", c.clocks, p.Where(), *s.Value, s.Evidence.Why)
		}
	}
}

// TestClocksOfNodes: GET /api/v1/nodes says of each node how its clock is beside those of its neighbours, and nothing of nodes that tell nothing.
func TestClocksOfNodes(t *testing.T) {
	x := New()
	now := time.Unix(1e9, 0)
	for _, id := range []uint32{101, 102, 201, 202, 203} {
		x.nodes[id] = &node{first: now, seen: now}
	}
	k := &Known{Clocks: Clocks{
		Wrong: []clock.Verdict{{Node: 202, Offset: -5e6, Drift: 200_000, Since: 1e18, Pairs: 5}}, Apart: []clock.Disagreement{{From: 101, To: 203, Ns: -7e5, Since: 1e18}},
		Compared: map[uint32]int{101: 3, 102: 2, 202: 6, 203: 1},
	}}
	x.Look(nil, k, now)
	w := httptest.NewRecorder()
	x.serveNodes(w, nil)
	var got []string
	for _, m := range regexp.MustCompile(`"node": ?\d+[^}]*`).FindAllString(w.Body.String(), -1) {
		got = append(got, regexp.MustCompile(`,\s*"last_seen": ?"[^"]*"|T[^"]*Z|["\s]`).ReplaceAllString(m, ""))
	}
	want := []string{"node:101,clock:disputed,clock_off_ns:700000,clock_neighbours:3,clock_since:2001-09-09", "node:102,clock:right,clock_neighbours:2", "node:201",
		"node:202,clock:behind,clock_off_ns:5000000,clock_drift_ns:200000,clock_neighbours:5,clock_since:2001-09-09", "node:203,clock:disputed,clock_off_ns:700000,clock_neighbours:1,clock_since:2001-09-09"}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
