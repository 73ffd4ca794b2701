package collect

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"intsink/exporters/record"
)

// definitions returns the columns that a text defines between its top-level commas, each in one line.
func definitions(text string) (all []string) {
	depth, from := 0, 0
	for i, c := range text + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			d := strings.Join(strings.Fields(text[from:i]), " ")
			all, from = append(all, strings.ReplaceAll(d, "( ", "(")), i+1
		}
	}
	return all
}

// TestUpgradeHasTheColumns: what clickhouse-upgrade.sql adds to a table has the types that clickhouse.sql gives it, behind
// the same columns.
func TestUpgradeHasTheColumns(t *testing.T) {
	text, from, to := columns(t, "clickhouse.sql")
	place := map[string]string{} // by definition: the column in front
	before := ""
	for _, d := range definitions(endOfLine.ReplaceAllString(text[from:to], "")) {
		place[d] = before
		before = strings.Trim(strings.Fields(d)[0], "`")
	}
	b, err := os.ReadFile("clickhouse-upgrade.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, alter, ok := strings.Cut(endOfLine.ReplaceAllString(string(b), ""), "ALTER TABLE int.reports\n")
	alter, _, _ = strings.Cut(alter, ";")
	if !ok {
		t.Fatal("clickhouse-upgrade.sql alters nothing")
	}
	added := regexp.MustCompile("^(?:ADD COLUMN IF NOT EXISTS (.*) AFTER `?([a-z_0-9]+)`?|MODIFY COLUMN (.*))$")
	n := 0
	for _, d := range definitions(strings.TrimRight(strings.TrimSpace(alter), ";")) {
		m := added.FindStringSubmatch(d)
		if m == nil {
			t.Errorf("%s: what is that?", d)
			continue
		}
		if front, known := place[m[1]+m[3]]; !known || m[2] != "" && front != m[2] {
			t.Errorf("%s: clickhouse.sql has something else", d)
		}
		n++
	}
	if n < 17 || n > len(record.Fields) {
		t.Errorf("%d columns", n)
	}
}
