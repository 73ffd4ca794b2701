package allsinks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// stored has the Sinks ask a store that answers these rows, by what stands in the query.
func (x *network) stored(rows map[string]string) {
	x.sinks.o.Past = &Past{Database: "`int`.", Read: func(_ context.Context, query string) ([]byte, error) {
		for part, answer := range rows {
			if strings.Contains(query, part) {
				if answer == "" {
					return nil, errors.New("497: not enough privileges")
				}
				return []byte(answer), nil
			}
		}
		x.t.Errorf("asked %s", query)
		return nil, nil
	}}
}

// TestProblemsOfLastWeek: with since, what the sinks have forgotten comes out of the store: once, at its sink, and not as if it were wrong now.
func TestProblemsOfLastWeek(t *testing.T) {
	x := newNetwork(t, 2)
	old := func(id int, kind, place, since, until string) string {
		p := strings.Replace(aProblem(id, kind, place, since, ""), `"until": null`, `"until": `+until, 1)
		began, _ := time.Parse(time.RFC3339, since)
		return fmt.Sprintf(`{"node": 90001, "problem": %q, "began": %d, "heard": %d}`, p, began.UnixMilli(), began.Add(time.Hour).UnixMilli())
	}
	x.says(0, "/api/v1/problems", problems(aProblem(7, "slow_hop", "node 202", begin, "")))
	x.get("/api/v1/status")
	rows := map[string]string{"`int`.problems FINAL": strings.Join([]string{
		old(7, "slow_hop", "node 202", begin, "null"),
		old(6, "queue_congested", "node 302, egress 1, queue 0", "2026-11-20T03:00:00Z", `"2026-11-20T04:00:00Z"`),
		old(5, "table_full", "worker w0", "2026-11-19T03:00:00Z", "null"),
	}, "\n")}
	x.stored(rows)
	_, o := x.get("/api/v1/problems?since=2026-11-18T00:00:00Z")
	is(t, strings.Join(lines(o), "\n"), "error slow_hop at node 202 since "+begin+"\n"+
		"error queue_congested at node 302, egress 1, queue 0 since 2026-11-20T03:00:00Z until 2026-11-20T04:00:00Z\n"+
		"error table_full at sink "+x.name(0)+", worker w0 since 2026-11-19T03:00:00Z until 2026-11-19T04:00:00Z")
	if p := objects(o, "items")[2]; text(p, "ended") != "not heard of since" || o["partial"] != nil {
		t.Errorf("%v", p)
	}
	x.later()
	if _, o := x.get("/api/v1/problems"); len(lines(o)) != 1 {
		t.Errorf("without since: %v", lines(o))
	}
	x.later()
	rows["`int`.problems FINAL"] = ""
	_, o = x.get("/api/v1/problems?since=2026-11-18T00:00:00Z")
	if p := fmt.Sprint(o["partial"]); len(lines(o)) != 1 || p != "[map[sink:clickhouse why:497: not enough privileges]]" {
		t.Errorf("%v, partial %v", lines(o), p)
	}
}

// TestEpisodesOfLastWeek: those of a time; what a sink remembers stands, and is not counted again.
func TestEpisodesOfLastWeek(t *testing.T) {
	x := newNetwork(t, 1)
	x.says(0, "/api/v1/episodes", `{"items": [
		{"id": 3, "node": 302, "egress": 15, "queue": 2, "begin": "2026-11-28T10:00:00Z", "end": null, "bytes": 5, "culprits": [], "victims": []},
		{"id": 2, "node": 302, "egress": 15, "queue": 2, "begin": "2026-11-27T10:00:00Z", "end": "2026-11-27T10:00:02Z", "bytes": 100, "culprits": [], "victims": []}], "totals": {"rows": 2}}`)
	row := func(id string, begin, end time.Time) string {
		return fmt.Sprintf(`{"id":%q,"node":302,"egress":15,"queue":2,"begin_ns":"%d","end_ns":"%d","packets":9,"bytes":1000,"peak_ns":null,"peak_latency_ns":7,"culprits":[{"flow":"a","bytes":900,"over":100}],"victims":[{"flow":"b","added_ns":4,"over":0}]}`, id, begin.UnixNano(), end.UnixNano())
	}
	at := func(s string) time.Time { t, _ := time.Parse(time.RFC3339, s); return t }
	x.stored(map[string]string{"`int`.episodes AS e FINAL": row("x", at("2026-11-27T10:00:01Z"), at("2026-11-27T10:00:03Z")) + "\n" + row("y", at("2026-11-20T10:00:00.25Z"), at("2026-11-20T10:00:01Z"))})
	_, o := x.get("/api/v1/episodes?since=2026-11-20T00:00:00Z&until=2026-11-28T00:00:00Z&node=302")
	all := objects(o, "items")
	if len(all) != 2 || shown(all[0]["id"]) != "2" || shown(all[1]["id"]) != "y" || text(all[1], "begin") != "2026-11-20T10:00:00.25Z" || amount(objects(all[1], "culprits")[0], "share") != 0.8 || all[1]["peak_at"] != nil {
		t.Errorf("%v", all)
	}
	for query, want := range map[string]string{"since=soon": "since = \"soon\": must be a time", "since=1h&until=2h": "since is not before until", "since=1h&node=x": "node = \"x\": must be a number"} {
		if code, o := x.get("/api/v1/episodes?" + query); code != 400 || !strings.HasPrefix(text(o, "error"), want) {
			t.Errorf("%s: %d %v", query, code, o)
		}
	}
}

// TestHistoryOfLastWeek: what lies further back than the sinks remember comes out of the store, the rest from them, in one row of steps.
func TestHistoryOfLastWeek(t *testing.T) {
	x := newNetwork(t, 1)
	now := x.sinks.o.Now()
	border := now.Add(-24*time.Hour).Unix()/3600 + 1 // in hours
	x.says(0, "/api/v1/history/hops", fmt.Sprintf(`{"begin": %q, "step_ns": 3600000000000, "steps": 2, "items": [{"node": 202, "ingress": 1, "egress": 2, "latency_ns": {"median": [30, null], "max": [40, 50]}}]}`, stamp(time.Unix(border*3600, 0))))
	x.stored(map[string]string{"FROM `int`.hops WHERE": `{"node":202,"egress":2,"steps":[0,1],"median":[10.4,20],"p99":[11,null],"max":[12,22]}`})
	_, o := x.get(fmt.Sprintf("/api/v1/history/hops?step=1h&since=%s", time.Unix((border-2)*3600, 0).UTC().Format(time.RFC3339)))
	items := objects(o, "items")
	if len(items) != 1 {
		t.Fatalf("%v", o)
	}
	l := inner(items[0], "latency_ns")
	is(t, fmt.Sprint(l["median"], l["max"], l["p99"], o["steps"], text(o, "begin") == stamp(time.Unix((border-2)*3600, 0)), items[0]["sinks"]),
		"[10 20 30 <nil>] [12 22 40 50] [11 <nil> <nil> <nil>]4true [clickhouse "+x.name(0)+"]")
	x.stored(map[string]string{"FROM": ""})
	_, o = x.get("/api/v1/history/hops?step=1h&since=240h")
	if len(objects(o, "items")) != 1 || !strings.Contains(fmt.Sprint(o["partial"]), "not enough privileges") {
		t.Errorf("%v", o)
	}
	for query, want := range map[string]string{"step=90s&since=240h": "step = ", "since=240h&step=1m&limit=1000": "these are "} {
		if code, o := x.get("/api/v1/history/hops?" + query); code != 400 || !strings.HasPrefix(text(o, "error"), want) {
			t.Errorf("%s: %d %v", query, code, o)
		}
	}
}
