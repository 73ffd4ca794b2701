//go:build engines

package collect

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"
)

// timeFilter is what Grafana's plugin makes a condition on a column of.
var timeFilter = regexp.MustCompile(`\$__timeFilter\(((?:[^()]|\([^()]*\))*)\)`)

// variable is a field above the panels; empty: all.
var variable = regexp.MustCompile(`\$\{\w+:sqlstring\}`)

// TestDashboard runs the SQL of every panel of deploy/grafana/network.json on the day of
// the queries: each gives rows.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../grafana/network.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ RawSQL string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.insert(day(time.Now().UTC().Truncate(time.Minute)).records)
	panels := 0
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		panels++
		t.Run(p.Title, func(t *testing.T) {
			c.t = t
			sql := variable.ReplaceAllString(timeFilter.ReplaceAllString(p.Targets[0].RawSQL, "$1 > now() - INTERVAL 2 DAY"), "''")
			if got := rows(t, c.must(sql)); len(got) == 0 {
				t.Errorf("no row: %s", sql)
			}
		})
	}
	if panels < 10 {
		t.Errorf("%d panels", panels)
	}
}
