//go:build engines

package collect

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"intsink/conf/collector"
)

// TestOwnClickHouse: what docs/collect.md says of a ClickHouse of one's own is SQL to ClickHouse, and a configuration to collect; and
// the statements that make replicated tables are made of all those of clickhouse.sql.
func TestOwnClickHouse(t *testing.T) {
	b, err := os.ReadFile("../../docs/collect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "### A ClickHouse of your own\n")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(section, -1)
	var statements []string
	for _, block := range blocks {
		switch block[1] {
		case "sql":
			statements = append(statements, strings.Split(block[2], ";")...)
		case "hcl":
			_, diags := collector.Parse("c.hcl", []byte("listen \"r\" { address = \"127.0.0.1:8555\" }\n"+block[2]))
			if err := diags.Err(); err != nil {
				t.Error(err)
			}
		}
	}
	tables, err := os.ReadFile("clickhouse.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := comments.ReplaceAllString(string(tables), "")
	replicated := regexp.MustCompile("(?m)^ENGINE = ").ReplaceAllString(text, "ENGINE = Replicated")
	if all, done := strings.Count(text, "ENGINE ="), strings.Count(replicated, "ENGINE = Replicated"); all != done || all < 8 {
		t.Errorf("%d of %d engines are replicated", done, all)
	}
	statements = append(statements, strings.Split(replicated, ";")...)
	c := startClickHouse(t)
	n := 0
	for _, sql := range statements {
		if strings.TrimSpace(sql) == "" {
			continue
		}
		n++
		if _, err := c.query("SELECT formatQuery('" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(sql) + "')"); err != nil {
			t.Errorf("%v\n%s", err, sql)
		}
	}
	if len(blocks) < 5 || n < 15 {
		t.Errorf("%d blocks, %d statements", len(blocks), n)
	}
}
