//go:build engines

package collect

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// earlier are the tables as an earlier version made them.
var earlier = []string{
	"ORDER BY (toStartOfTenMinutes(time), flow, id)", "ORDER BY (node_id, toStartOfMinute(time), flow, id)",
	"toStartOfHour(minute), ", "", "toStartOfHour(time), ", "", "PARTITION BY toMonday(minute)", "", "PARTITION BY toYYYYMM(day)", "", "PARTITION BY toYYYYMM(time)", "",
	"(day, path)", "(path, day)", ", ttl_only_drop_parts = 1", "", "SETTINGS ttl_only_drop_parts = 1", "", ", min_bytes_for_wide_part = 209715200", "",
	" CODEC(T64, LZ4)", "", " CODEC(ZSTD(1))", "",
}

// TestRebuild: what docs/collect.md says of tables of an earlier version makes those of clickhouse.sql of them, and loses and doubles
// nothing of what is in them, nor of what comes meanwhile.
func TestRebuild(t *testing.T) {
	b, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "### Tables of an earlier version\n")
	blocks := regexp.MustCompile("(?s)```(?:sh|sql)\n(.*?)```").FindAllStringSubmatch(section, 2)
	if len(blocks) != 2 {
		t.Fatal("docs/collect.md has no two blocks about tables of an earlier version")
	}
	shell, _, _ := strings.Cut(blocks[0][1], "| clickhouse-client")
	tables, err := exec.Command("sh", "-c", shell).Output()
	if err != nil {
		t.Fatal(err)
	}

	c := startClickHouse(t)
	n := 0
	insert := func(rows int) {
		var all []string
		for range rows {
			n++
			all = append(all, fmt.Sprintf("('report', 'i%d', now() - %d, 1, 'f%d', 'p', [(1, 2, 3)], [(5, 1, 2, NULL, NULL, 100, 0, 7, NULL, NULL, NULL, NULL, NULL, NULL, '')])", n, n*600, n))
		}
		c.must("INSERT INTO int.reports (type, id, time, node_id, flow, path, links, hops) VALUES " + strings.Join(all, ", "))
	}
	check := func(when string) {
		t.Helper()
		for _, sum := range []string{"count() AS n FROM int.reports", "toUInt32(sum(reports)) AS n FROM int.hops", "toUInt32(sum(reports)) AS n FROM int.links", "toUInt32(sum(reports)) AS n FROM int.queues", "toUInt32(sum(reports)) AS n FROM int.paths"} {
			if got, want := c.must("SELECT toUInt32(n) AS n FROM (SELECT "+sum+")"), fmt.Sprintf("{\"n\":%d}\n", n); got != want {
				t.Errorf("%s: %s is %s, want %s", when, sum, got, want)
			}
		}
	}
	statements := func(text string) {
		for _, sql := range strings.Split(comments.ReplaceAllString(text, ""), ";") {
			if strings.TrimSpace(sql) == "" {
				continue
			}
			c.must(sql)
			if strings.HasPrefix(strings.TrimSpace(sql), "EXCHANGE") {
				insert(10)
			}
		}
	}
	c.runFile("clickhouse.sql", earlier...)
	insert(100)
	c.runFile("clickhouse-upgrade.sql")
	insert(100)
	check("upgraded")
	statements(string(tables))
	statements(blocks[1][1])
	check("rebuilt")
	insert(10)
	check("afterwards")
	keys := c.must("SELECT name, partition_key, sorting_key FROM system.tables WHERE database = 'int' AND engine LIKE '%MergeTree' ORDER BY name")
	c.must("DROP DATABASE int")
	c.runFile("clickhouse.sql")
	if want := c.must("SELECT name, partition_key, sorting_key FROM system.tables WHERE database = 'int' AND engine LIKE '%MergeTree' ORDER BY name"); keys != want {
		t.Errorf("keys\n%s, want\n%s", keys, want)
	}
}
