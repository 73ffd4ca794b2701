package inforce

import (
	"errors"
	"strings"
	"testing"
	"time"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
)

// TestJudge: a trial ends by its time, by a problem, by a limit, and by a worker that does not poll.
func TestJudge(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * 1e9)) }
	limit := &control.Limit{Reports: 2000, PollGap: control.Duration(10 * time.Millisecond)}
	for _, c := range []struct {
		name  string
		limit *control.Limit
		reads []reading
		end   control.TrialEnd
		why   string
	}{
		{"nobody confirms", nil, []reading{{now: at(599)}, {now: at(600)}}, control.TrialTimeout, "nobody confirmed"},
		{"all is well", limit, []reading{{now: at(1), reports: 2000}, {now: at(2), reports: 4000}, {now: at(3), reports: 4000, gap: 10 * time.Millisecond}}, 0, ""},
		{"too many reports", limit, []reading{{now: at(1), reports: 2000}, {now: at(1.5), reports: 4000}, {now: at(2), reports: 4001}}, control.TrialReports, "2001 reports a second, the limit is 2000"},
		{"over less than a second", limit, []reading{{now: at(0.25), reports: 1999}, {now: at(1), reports: 2000}}, 0, ""},
		{"a collector went with its reports", limit, []reading{{now: at(1), reports: 100}, {now: at(2), reports: 0}}, 0, ""},
		{"a gap", limit, []reading{{now: at(1)}, {now: at(2), gap: 11 * time.Millisecond}}, control.TrialPollGap, "a gap of 11ms between two polls, the limit is 10ms"},
		{"a gap of before", limit, []reading{{now: at(1.9), gap: time.Second}}, 0, ""},
		{"a gap without a limit", nil, []reading{{now: at(5), gap: time.Second, reports: 1e9}}, 0, ""},
		{"reports are lost", nil, []reading{{now: at(5), worse: []problem.Problem{{Kind: problem.ReportsLost, Place: []problem.Part{{What: "collector", ID: "new"}}, What: "reports are being lost"}}}}, control.TrialProblem, "collector new: reports are being lost"},
		{"a change of the network", nil, []reading{{now: at(5), worse: []problem.Problem{{Kind: problem.NodeGone}, {Kind: problem.LessDone, Evidence: problem.Evidence{Why: "asked for strip by unix uid 0"}}}}}, 0, ""},
		{"what is tolerated", nil, []reading{{now: at(5), worse: []problem.Problem{{Kind: problem.LinkDown}}}}, 0, ""},
		{"a stuck worker", nil, []reading{{now: at(5), stuck: errors.New("worker w0 has not polled for 1s")}}, control.TrialStuck, "worker w0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJudge(&control.Trial{Until: at(600), Limit: c.limit, Tolerate: []problem.Kind{problem.LinkDown}}, reading{now: start})
			var end control.TrialEnd
			var why string
			for i, r := range c.reads {
				if end, why = j.look(r); why != "" && i < len(c.reads)-1 {
					t.Fatalf("ends at reading %d: %s", i, why)
				}
			}
			if end != c.end || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("%v %q, want %v %q", end, why, c.end, c.why)
			}
		})
	}
}

// TestStartsAreNoFault: what begins with a new program has half a minute to be over.
func TestStartsAreNoFault(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		name        string
		since, over int // over 0: it is not
		now         int
		ends        bool
	}{
		{"at the start, not yet over", 1, 0, 29, false}, {"at the start, for good", 1, 0, 30, true}, {"at the start, and over", 9, 12, 300, false},
		{"later", 10, 0, 12, true}, {"later, and over", 11, 15, 20, true},
	} {
		p := problem.Problem{Kind: problem.ReportsLost, Since: at(c.since)}
		if c.over > 0 {
			p.Until = new(at(c.over))
		}
		r := reading{now: at(c.now), worse: []problem.Problem{p}}
		j := newJudge(&control.Trial{Until: at(600)}, reading{now: start})
		j.start = start
		if _, why := j.look(r); (why != "") != c.ends {
			t.Errorf("%s: %q", c.name, why)
		}
		if _, why := newJudge(&control.Trial{Until: at(600)}, reading{now: start}).look(r); why == "" {
			t.Errorf("%s: a reload has no start", c.name)
		}
	}
}
