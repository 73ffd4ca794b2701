//go:build engines

package collect

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSparseNulls types what docs/collect.md says of nulls: a table that leaves them out of its parts has the same rows. ClickHouse has
// that from 25.12 on.
func TestSparseNulls(t *testing.T) {
	b, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("ALTER TABLE int.reports MODIFY SETTING nullable_serialization_version = '[a-z_]+'").FindString(string(b))
	c := startClickHouse(t)
	c.runFile("clickhouse.sql")
	c.insert(day(time.Now().UTC().Truncate(time.Minute)).records)
	c.must("CREATE TABLE int.sparse AS int.reports")
	c.must(strings.Replace(recipe, "int.reports", "int.sparse", 1))
	for range 2 { // and what is merged of it
		c.must("INSERT INTO int.sparse SELECT * FROM int.reports SETTINGS insert_deduplicate = 0")
	}
	c.must("OPTIMIZE TABLE int.sparse FINAL")
	rows := "SELECT count() AS n, groupBitXor(cityHash64(toString(tuple(*)))) AS all FROM (SELECT DISTINCT * FROM "
	if got, want := c.must(rows+"int.sparse)"), c.must(rows+"int.reports)"); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if c.must("SELECT 1 AS n FROM system.parts_columns WHERE table = 'sparse' AND active AND column = 'drop_reason' AND serialization_kind = 'Sparse' LIMIT 1") == "" {
		t.Error("nulls of drop_reason are in the parts")
	}
}
