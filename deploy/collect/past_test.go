//go:build engines

package collect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"intsink/exporters/clickhouse"
)

// TestWhatSinksForgot: the queries of a collector's page over all sinks find what was stored of a time, and no more.
func TestWhatSinksForgot(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	now := time.Now().UTC().Truncate(time.Minute)
	c.insert(day(now).records)
	c.runFile("clickhouse-problems.sql")
	at := func(ago time.Duration) string { return now.Add(-ago).Format("2006-01-02T15:04:05Z") }
	for _, p := range []string{
		fmt.Sprintf(`{"id":6,"kind":"slow_hop","severity":"error","place":[{"what":"node","id":"302"}],"what":"slow","since":%q,"until":%q,"evidence":{}}`, at(50*time.Hour), at(49*time.Hour)),
		fmt.Sprintf(`{"id":7,"kind":"node_gone","severity":"error","place":[{"what":"node","id":"303"}],"what":"gone","since":%q,"until":null,"evidence":{}}`, at(40*time.Hour)),
	} {
		c.must(`INSERT INTO int.problem_posts FORMAT JSONEachRow {"event":"begin","problem":` + quoted(p) + `,"sink":"{\"node\":7,\"host\":\"a\"}","text":""}`)
	}
	ask := func(query string) []map[string]any {
		t.Helper()
		var rows []map[string]any
		// The library makes JSON lines of what it is asked, and takes no FORMAT.
		query = regexp.MustCompile(` FORMAT JSONEachRow$`).ReplaceAllString(query, "")
		for line := range strings.Lines(c.must(query)) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			rows = append(rows, row)
		}
		return rows
	}
	kinds := func(rows []map[string]any) (all []string) {
		for _, r := range rows {
			all = append(all, regexp.MustCompile(`"kind":"(\w+)"`).FindStringSubmatch(r["problem"].(string))[1])
		}
		return all
	}
	if got := kinds(ask(clickhouse.ProblemsBetween("`int`.", now.Add(-60*time.Hour), now, 10))); fmt.Sprint(got) != "[node_gone slow_hop]" {
		t.Errorf("problems %v", got)
	}
	rows := ask(clickhouse.ProblemsBetween("`int`.", now.Add(-48*time.Hour), now, 10))
	if fmt.Sprint(kinds(rows)) != "[node_gone]" || rows[0]["node"] != 7.0 || rows[0]["began"] != float64(now.Add(-40*time.Hour).UnixMilli()) {
		t.Errorf("problems %v", rows)
	}
	rows = ask(clickhouse.EpisodesBetween("`int`.", now.Add(-time.Hour), now, " AND node = 12", 10))
	if len(rows) != 1 || rows[0]["bytes"] != 5000.0 || len(rows[0]["culprits"].([]any)) == 0 || !strings.HasSuffix(rows[0]["begin_ns"].(string), "000") {
		t.Errorf("episodes %v", rows)
	}
	if rows := ask(clickhouse.EpisodesBetween("`int`.", now.Add(-3*time.Hour), now.Add(-2*time.Hour), "", 10)); len(rows) != 0 {
		t.Errorf("episodes of another time %v", rows)
	}
	first := now.Add(-30*time.Minute).Unix() / 60
	rows = ask(clickhouse.Queues.Between("`int`.", first, 30, 60, " AND node = 12 AND queue = 5", 5))
	if len(rows) == 0 || fmt.Sprint(rows[0]["node"], rows[0]["queue"]) != "12 5" {
		t.Fatalf("queues %v", rows)
	}
	// 22, 20 and 19 minutes ago; 18 minutes ago less a second is the minute after.
	if got := fmt.Sprint(rows[0]["steps"], rows[0]["max"]); got != "[8 10 11 12] [10 900 950 20]" {
		t.Errorf("queues %v", got)
	}
	for name, m := range map[string]clickhouse.Minutes{"hops": clickhouse.Hops, "segments": clickhouse.Segments} {
		rows := ask(m.Between("`int`.", first, 30, 60, "", 5))
		if len(rows) == 0 || len(rows[0]["median"].([]any)) != len(rows[0]["steps"].([]any)) {
			t.Errorf("%s %v", name, rows)
		}
	}
}

// TestWhatAnIncidentAsks: the ways of one host's packets and what was lost on them; the minutes of its hops beside the day before; what never came.
func TestWhatAnIncidentAsks(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	now := time.Now().UTC().Truncate(time.Minute)
	c.insert(day(now).records)
	ask := func(query string) string {
		return c.must(strings.TrimSuffix(query, " FORMAT JSONEachRow"))
	}
	got := ask(clickhouse.WaysBetween("`int`.", now.Add(-21*time.Minute), now, "source >= toIPv6('::ffff:10.0.0.2') AND source <= toIPv6('::ffff:10.0.0.2')", 10))
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, `"nodes":[12,13]`) || !strings.Contains(got, `"flows":["tcp:10.0.0.2:1024-10.1.0.1:80"]`) || !strings.Contains(got, `"lost_packets":0`) {
		t.Errorf("ways %s", got)
	}
	got = ask(clickhouse.Hops.HeldBetween("`int`.", now.Add(-21*time.Minute), now, " AND (node, egress) IN ((12, 2))", 10))
	if !strings.Contains(got, `"known":2,`) || !strings.Contains(got, `"before":[1000,`) || !strings.Contains(got, `"max":95000,"known"`) || strings.Count(got, "\n") != 1 {
		t.Errorf("hops %s", got)
	}
	if got = ask(clickhouse.Segments.HeldBetween("`int`.", now.Add(-30*time.Minute), now, "", 10)); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"from_node":11,"to_node":12`) {
		t.Errorf("segments %s", got)
	}
	if got = ask(clickhouse.MissingBetween("`int`.", now.Add(-time.Hour), now)); strings.TrimSpace(got) != `{"packets":4,"unknown":1}` {
		t.Errorf("missing %s", got)
	}
}

// quoted is a text in JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
