//go:build engines

package collect

import (
	"fmt"
	"strings"
	"testing"

	"intsink/exporters/clickhouse"
)

// TestBlockThatComesTwice: a block whose acknowledgement was lost is sent again under the same token. The table and all that is made of
// it per minute and day have it once, also in tables that an upgrade has changed.
func TestBlockThatComesTwice(t *testing.T) {
	for _, upgraded := range []bool{false, true} {
		c := startClickHouse(t)
		if upgraded {
			c.runFile("clickhouse.sql", "SETTINGS non_replicated_deduplication_window = 1000;", ";")
			c.must("ALTER TABLE int.reports MODIFY SETTING non_replicated_deduplication_window = 1000")
			c.runFile("clickhouse-upgrade.sql")
		} else {
			c.runFile("clickhouse.sql")
		}
		var rows []string
		for i := range 100 {
			rows = append(rows, fmt.Sprintf("('report', 'i%d', now(), 1, 'f%d', 'p', [(1, 2, 3)], [(5, 1, 2, NULL, NULL, 100, 0, 7, NULL, NULL, NULL, NULL, NULL, NULL, '')])", i, i))
		}
		settings := "insert_deduplication_token = 't'"
		for name, value := range clickhouse.Settings {
			settings += ", " + name + " = " + value
		}
		for range 2 {
			c.must("INSERT INTO int.reports (type, id, time, node_id, flow, path, links, hops) SETTINGS " + settings + " VALUES " + strings.Join(rows, ", "))
		}
		for _, table := range []string{"hops", "links", "queues", "paths"} {
			if got := c.must("SELECT toUInt32(sum(reports)) AS n FROM int." + table); got != "{\"n\":100}\n" {
				t.Errorf("int.%s, upgraded %v: %s of 100 reports", table, upgraded, got)
			}
		}
	}
}
