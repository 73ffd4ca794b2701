//go:build engines

package collect

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestProblems: what a sink's webhook posts to the address that clickhouse-problems.sql shows is there as a row: once for each
// problem, with its end when that came; the query of docs/queries.md finds it.
func TestProblems(t *testing.T) {
	c := startClickHouse(t)
	c.must("CREATE DATABASE int")
	c.runFile("clickhouse-problems.sql")
	text, err := os.ReadFile("clickhouse-problems.sql")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(regexp.MustCompile(`url = "(.*)"`).FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	insert := strings.Replace(q.Get("query"), " FORMAT", " SETTINGS input_format_json_read_objects_as_strings = "+q.Get("input_format_json_read_objects_as_strings")+
		", input_format_skip_unknown_fields = "+q.Get("input_format_skip_unknown_fields")+" FORMAT", 1)
	const full = `"id":7,"kind":"queue_congested","severity":"error","place":[{"what":"node","id":"302"},{"what":"egress","id":"12"},{"what":"queue","id":"2","name":"it's; \"full\""}],` +
		`"what":"the queue is congested","since":"2026-11-26T04:05:18.25Z","value":1992877,"usual":1407,"unit":"ns","evidence":{"episode":1,` +
		`"culprits":[{"flow":"udp:10.2.0.19:40055-10.3.2.12:8000","bytes":14420000,"share":0.92}],"victims":[{"flow":"x","added_ns":9}]},"todo":"look"`
	const away = `"id":8,"kind":"collector_away","severity":"error","place":[{"what":"collector","id":"primary"}],"what":"it does not answer","since":"2026-11-26T05:00:00Z","value":null,"usual":null,"evidence":{}`
	const rest = `,"sink":{"node":7,"host":"sink7","version":"1.0"},"text":"node 302"}`
	c.must(insert + ` {"event":"begin","problem":{` + full + `,"until":null}` + rest)
	c.must(insert + ` {"event":"begin","problem":{` + away + `,"until":null}` + rest)
	c.must("SELECT sleep(0.01)") // told is another millisecond
	c.must(insert + " {\n\"event\":\"end\",\"problem\":{" + full + `,"until":"2026-11-26T04:09:00Z"}` + rest + "\n")
	if got, want := c.must("SELECT id, until, value, culprits, flows FROM int.problems FINAL ORDER BY id"),
		`{"id":7,"until":"2026-11-26 04:09:00.000","value":1992877,"culprits":[{"flow":"udp:10.2.0.19:40055-10.3.2.12:8000","bytes":14420000,"share":0.92}],"flows":[]}
{"id":8,"until":null,"value":null,"culprits":[],"flows":[]}`; strings.TrimSpace(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := c.must(strings.Replace(documented(t)["problems"], "now() - INTERVAL 1 DAY", "toDateTime('2026-11-26 00:00:00')", 1))
	for _, want := range []string{`"place":"node 302, egress 12, queue 2"`, `"times_usual":1416`, `"culprit":"udp:10.2.0.19:40055-10.3.2.12:8000"`, `"kind":"collector_away"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the query finds\n%s without %s", got, want)
		}
	}
}
