//go:build engines

package collect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What Grafana's plugin makes of a panel's SQL: conditions on a column of time, the ends of the time shown, and fields above the
// panels (empty: all).
var (
	timeFilter = regexp.MustCompile(`\$__timeFilter\(((?:[^()]|\([^()]*\))*)\)`)
	variable   = regexp.MustCompile(`\$\{(\w+):sqlstring\}`)
)

// shown is the SQL of a panel for the hour up to a time.
func shown(sql string, to time.Time, variables map[string]string) string {
	seconds := func(t time.Time) string { return "toDateTime(" + strconv.FormatInt(t.Unix(), 10) + ")" }
	from := to.Add(-time.Hour)
	sql = timeFilter.ReplaceAllString(sql, "$1 >= "+seconds(from)+" AND $1 <= "+seconds(to))
	sql = strings.NewReplacer("$__fromTime", seconds(from), "$__toTime", seconds(to)).Replace(sql)
	return variable.ReplaceAllStringFunc(sql, func(v string) string { return "'" + variables[variable.FindStringSubmatch(v)[1]] + "'" })
}

// panel is one of deploy/grafana/network.json.
type panel struct {
	Title, Type string
	Targets     []struct{ RawSQL string }
	FieldConfig struct {
		Overrides []struct {
			Matcher    struct{ Options string }
			Properties []struct {
				ID    string
				Value any
			}
		}
	}
}

// panels are all that show something.
func panels(t *testing.T) (all []panel, annotation string) {
	t.Helper()
	text, err := os.ReadFile("../grafana/network.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels      []panel
		Annotations struct {
			List []struct{ Target struct{ RawSQL string } }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		if p.Type != "row" {
			all = append(all, p)
		}
	}
	if len(all) < 15 {
		t.Fatalf("%d panels", len(all))
	}
	return all, d.Annotations.List[0].Target.RawSQL
}

// times are those of an answer; ms are as Grafana's addresses have them.
var times = regexp.MustCompile(`"(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?"|\b\d{13}\b`)

// before says how long before a time each time of an answer is.
func before(answer string, to time.Time) string {
	return times.ReplaceAllStringFunc(answer, func(text string) string {
		at, err := time.Parse(time.DateTime, strings.SplitN(strings.Trim(text, `"`), ".", 2)[0])
		if err != nil {
			ms, _ := strconv.ParseInt(text, 10, 64)
			at = time.UnixMilli(ms)
		}
		return `"-` + to.Sub(at).String() + `"`
	})
}

// TestDashboard runs the SQL of every panel of deploy/grafana/network.json on the day of the queries. The answers are those of
// testdata/panels, which say how long before the end of the time shown things were; they are the same for an hour three days ago.
// INTSINK_UPDATE=1 writes them: read what has changed.
func TestDashboard(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Minute)
	all, annotation := panels(t)
	all = append(all, panel{Title: "annotation: problems", Targets: []struct{ RawSQL string }{{annotation}}})
	for _, bare := range []bool{false, true} {
		c := startClickHouse(t)
		c.runFile("clickhouse.sql")
		c.runFile("clickhouse-problems.sql")
		ends := []time.Time{now, now.Add(-72 * time.Hour)}
		for i, end := range ends {
			c.insert((&network{now: end, start: int64(1 + i), bare: bare}).day().records)
			c.insertProblems(end)
		}
		path := filepath.Join("testdata", map[bool]string{false: "panels", true: "panels-bare"}[bare])
		want, _ := os.ReadFile(path)
		var got strings.Builder
		for _, p := range all {
			variables := map[string]string{}
			if strings.Contains(p.Targets[0].RawSQL, "${flow:sqlstring} != ''") {
				variables["flow"] = "10.0.0.2:"
			}
			answer := before(c.must(shown(p.Targets[0].RawSQL, ends[0], variables)), ends[0])
			fmt.Fprintf(&got, "## %s\n%s\n", p.Title, answer)
			if past := before(c.must(shown(p.Targets[0].RawSQL, ends[1], variables)), ends[1]); p.Title == "Paths, and since when" { // since then, that is
				fmt.Fprintf(&got, "## %s: three days ago\n%s\n", p.Title, past)
			} else if past != answer {
				t.Errorf("%s: now\n%s, three days ago\n%s", p.Title, answer, past)
			}
		}
		if os.Getenv("INTSINK_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if got.String() != string(want) {
			t.Errorf("explained %v: the panels show\n%s, want\n%s", !bare, got.String(), want)
		}
	}
}

// insertProblems stores three: one that was over before the hour up to end began, one of its middle, one that began in it and is wrong still.
func (c *clickHouse) insertProblems(end time.Time) {
	c.t.Helper()
	for i, p := range []struct{ since, until time.Duration }{{90 * time.Minute, 70 * time.Minute}, {20 * time.Minute, 18 * time.Minute}, {5 * time.Minute, -2 * time.Hour}} {
		c.must(fmt.Sprintf("INSERT INTO int.problems (node, host, id, kind, severity, place, what, since, until, value, usual, culprits, told) VALUES "+
			"(1, 'sink1', %d, 'queue_congested', 'error', 'node 12, egress 2, queue 5', 'the queue is congested', fromUnixTimestamp64Milli(%d), fromUnixTimestamp64Milli(%d), 95000, 1000, [('tcp:10.0.0.2:1024-10.1.0.1:80', 5000, 0.5)], now())",
			i, end.Add(-p.since).UnixMilli(), end.Add(-p.until).UnixMilli()))
	}
}

// TestDashboardLinks: what a click hands on is a column of the same panel, and a field above the panels.
func TestDashboardLinks(t *testing.T) {
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.runFile("clickhouse-problems.sql")
	all, _ := panels(t)
	links := 0
	for _, p := range all {
		described := c.must("DESCRIBE (" + shown(p.Targets[0].RawSQL, time.Now(), nil) + ")")
		has := func(column string) bool { return strings.Contains(described, `{"name":"`+column+`"`) }
		for _, o := range p.FieldConfig.Overrides {
			if !has(o.Matcher.Options) {
				t.Errorf("%s: no column %s", p.Title, o.Matcher.Options)
			}
			text, _ := json.Marshal(o.Properties)
			for _, m := range regexp.MustCompile(`__data\.fields\[\\*"(\w+)\\*"\]`).FindAllStringSubmatch(string(text), -1) {
				if links++; !has(m[1]) {
					t.Errorf("%s: the link of %s hands on %s, which is no column", p.Title, o.Matcher.Options, m[1])
				}
			}
			for _, m := range regexp.MustCompile(`var-(\w+)=`).FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains("node flow sink", m[1]) {
					t.Errorf("%s: there is no field %s", p.Title, m[1])
				}
			}
		}
	}
	if links < 10 {
		t.Errorf("%d links", links)
	}
}

// TestSlowerNodes: the panel lists a node that has become slower, whether lately or half an hour ago, and none that is as it was: also
// one whose packets take now and then much longer.
func TestSlowerNodes(t *testing.T) {
	end := time.Now().UTC().Truncate(time.Minute)
	n := &network{now: end, start: 1}
	for i := range 60 {
		slow := func(before int, usual uint32) uint32 {
			if i < before {
				return 20 * usual
			}
			return usual
		}
		for k := range 10 {
			tail := uint32(1000)
			if k == 0 {
				tail = 50_000
			}
			n.report(1, 9, time.Duration(i)*time.Minute+time.Duration(k)*time.Second, "sample", nil, hop(41, 1000, 1), hop(42, tail, 1), hop(43, slow(5, 1000), 1), hop(44, slow(40, 2000), 1), hop(45, uint32(100+90*k), 1))
		}
	}
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.insert(n.records)
	all, _ := panels(t)
	for _, p := range all {
		if p.Title != "Nodes that are slower than they were" {
			continue
		}
		want := `[{"lately":20000,"name":"43","node":43,"times":20,"usual":1000},{"lately":40000,"name":"44","node":44,"times":20,"usual":2000}]`
		got, _ := json.Marshal(rows(t, c.must(shown(p.Targets[0].RawSQL, end, nil))))
		if !reflect.DeepEqual(string(got), want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
