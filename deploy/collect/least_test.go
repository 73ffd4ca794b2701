//go:build engines

package collect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/exporters/clickhouse"
)

// TestLeastVersion runs all that we have for ClickHouse in one go, which is what the library of the least version is good for (it makes a
// server for each call): tables, records of a day, a block that comes twice, each question and each panel. None fails, and what is made
// per minute of the records is there once.
func TestLeastVersion(t *testing.T) {
	c := startClickHouse(t)
	n := day(time.Now().UTC().Truncate(time.Minute))
	path := filepath.Join(t.TempDir(), "records.json")
	if err := os.WriteFile(path, n.records, 0o600); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range []string{"clickhouse.sql", "clickhouse-problems.sql", "clickhouse-upgrade.sql"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, statements(string(b))...)
	}
	settings := "date_time_input_format = 'best_effort', insert_deduplication_token = 't'"
	for name, value := range clickhouse.Settings {
		settings += ", " + name + " = " + value
	}
	for range 2 {
		all = append(all, "INSERT INTO int.reports SETTINGS "+settings+" SELECT * FROM file('"+path+"', 'JSONEachRow')")
	}
	for name, sql := range documented(t) {
		if name != "named_hops" { // its dictionary asks a collector
			for parameter, value := range map[string]string{"flow:String": "'x'", "raise:UInt32": "100", "from:DateTime64(3)": "toDateTime64(0, 3)", "to:DateTime64(3)": "now64(3)", "node:UInt32": "12", "egress:UInt32": "2", "queue:UInt8": "5"} {
				sql = strings.ReplaceAll(sql, "{"+parameter+"}", value)
			}
			all = append(all, sql+" FORMAT Null")
		}
	}
	for _, m := range []clickhouse.Minutes{clickhouse.Queues, clickhouse.Hops, clickhouse.Segments} {
		all = append(all, toNobody(m.Between("`int`.", 0, 30, 60, "", 5)), toNobody(m.HeldBetween("`int`.", n.now.Add(-time.Hour), n.now, "", 5)))
	}
	all = append(all, toNobody(clickhouse.WaysBetween("`int`.", n.now.Add(-time.Hour), n.now, "source >= toIPv6('::ffff:10.0.0.1')", 5)), toNobody(clickhouse.MissingBetween("`int`.", n.now, n.now)))
	all = append(all, toNobody(clickhouse.ProblemsBetween("`int`.", time.Now(), time.Now(), 5)), toNobody(clickhouse.EpisodesBetween("`int`.", time.Now(), time.Now(), "", 5)))
	shows, _ := panels(t)
	for _, p := range shows {
		all = append(all, shown(p.Targets[0].RawSQL, time.Now(), nil)+" FORMAT Null")
	}
	hops := 0
	for _, r := range n.all {
		hops += len(r.Hops)
	}
	all = append(all, "SELECT toUInt32(sum(reports)) AS n FROM int.hops")
	if got := c.must(strings.Join(all, ";\n")); strings.TrimSpace(got) != fmt.Sprintf(`{"n":%d}`, hops) {
		t.Errorf("%s, %d hops were reported", got, hops)
	}
	if !strings.HasPrefix(clickhouse.LeastVersion, "24.8") {
		t.Error("scripts/deps-engines.sh installs another version than the least")
	}
}

// toNobody is a query whose rows nobody wants.
func toNobody(query string) string {
	return strings.Replace(query, "FORMAT JSONEachRow", "FORMAT Null", 1)
}
