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
	"intsink/exporters/record"
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

// TestLargeBlocks: blocks of as many rows as collect gathers by default come twice each and count once, as one part each, which has few
// files. What is merged of them, value by value, has the same rows. The library of 24.8 would read what is inserted from its standard input.
func TestLargeBlocks(t *testing.T) {
	const rows = 200_000
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.must("SYSTEM STOP MERGES")
	n := &network{now: time.Now().UTC().Truncate(time.Minute), start: 1}
	n.report(1, 1, 0, "sample", func(r *record.Record) {
		r.Links = append(r.Links, record.Link{From: 11, To: 12, LatencyNs: 7}, record.Link{From: 12, To: 13, LatencyNs: 9})
		r.TLVs = append(r.TLVs, record.TLV{Type: 1, Data: []byte{1}})
	}, hop(11, 100, 1), hop(12, 200, 2), hop(13, 300, 3))
	settings := ""
	for name, value := range clickhouse.Settings {
		if name != "async_insert" { // the library has no such queue
			settings += ", " + name + " = " + value
		}
	}
	r, file := *n.all[0], filepath.Join(t.TempDir(), "block.native")
	for block := range 2 {
		columns := record.NewColumns()
		for i := range rows {
			r.Sequence, r.SourcePort, r.LatencyNs = uint64(2*i+block), uint16(i*7), uint64(i)
			columns.Append(&r)
		}
		columns.Seal()
		if err := os.WriteFile(file, record.AppendNative(nil, record.Rows{Of: columns, To: rows}), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c.must(fmt.Sprintf("INSERT INTO int.reports FROM INFILE '%s' SETTINGS insert_deduplication_token = 'b%d'%s FORMAT Native", file, block, settings))
		}
	}
	all := func() string {
		return c.must("SELECT toUInt32(count()) AS n, toString(groupBitXor(cityHash64(id, toString(hops), toString(links), toString(tlvs), latency_ns, flow))) AS all FROM int.reports")
	}
	before := all()
	if want := fmt.Sprintf(`{"n":%d,`, 2*rows); !strings.HasPrefix(before, want) {
		t.Errorf("rows %s, want %s", before, want)
	}
	for table, want := range map[string]int{"hops": 6 * rows, "links": 4 * rows, "queues": 6 * rows, "paths": 2 * rows} {
		if got := c.must("SELECT toUInt32(sum(reports)) AS n FROM int." + table); got != countRow(want)+"\n" {
			t.Errorf("int.%s: %s, want %d", table, got, want)
		}
	}
	parts := "SELECT toUInt32(count()) AS n FROM system.parts WHERE database = 'int' AND table = 'reports' AND active AND part_type = "
	if got := c.must(parts + "'Compact'"); got != countRow(2)+"\n" {
		t.Errorf("parts of few files: %s, want one for each block", got)
	}
	c.must("SYSTEM START MERGES")
	c.must("OPTIMIZE TABLE int.reports FINAL")
	if got := c.must(parts + "'Wide'"); got != countRow(1)+"\n" {
		t.Errorf("parts with a file for each value: %s, want 1", got)
	}
	if after := all(); after != before {
		t.Errorf("merged: %s, want %s", after, before)
	}
}
