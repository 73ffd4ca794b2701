// table: aligns rows in columns; writes counts, latencies and ages in few characters.

package top

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"intsink/cmd/internal/cli"
)

// table is rows of cells below a head.
type table struct {
	columns []column
	rows    [][]string
	below   string // what is said below them, in place of what the view has
	of      int    // how many rows there are at the sink, where that is known
}

// column is one of a table.
type column struct {
	name     string
	right    bool // it has numbers
	optional bool // it goes where the screen is too narrow, the last one first, and first those without a value
}

// newTable makes a table of columns. A name that begins with ">" is of a column of numbers, which
// are aligned to the right; "?" in front of it makes it optional.
func newTable(columns ...string) *table {
	t := &table{}
	for _, c := range columns {
		name, optional := strings.CutPrefix(c, "?")
		name, number := strings.CutPrefix(name, ">")
		t.columns = append(t.columns, column{name, number, optional})
	}
	return t
}

// add adds a row. A name of others with a newline in it makes no second one.
func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = cli.PrintableText(c)
	}
	t.rows = append(t.rows, cells)
}

// lines are the head and at most n rows, in columns that fit the width (0: any); empty where there are none.
func (t *table) lines(n, width int, empty string) []string {
	if len(t.rows) == 0 {
		return []string{empty}
	}
	var head []string
	for _, c := range t.columns {
		head = append(head, c.name)
	}
	all := append([][]string{head}, t.rows[:min(n, len(t.rows))]...)
	widths := t.fit(all, width)
	var lines []string
	for _, row := range all {
		var b strings.Builder
		for i, c := range row {
			if widths[i] == 0 {
				continue
			}
			if r := []rune(c); len(r) > widths[i] {
				c = string(r[:widths[i]-1]) + "…"
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if t.columns[i].right {
				b.WriteString(pad + c + "  ")
			} else {
				b.WriteString(c + pad + "  ")
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// shortest is how far a column of text is shortened at most.
const shortest = 8

// fit returns the width of each column, 0: it is left out. Where all of them are too wide, optional columns go, and then the
// widest texts are shortened.
func (t *table) fit(rows [][]string, width int) []int {
	widths, sum := make([]int, len(t.columns)), -2
	for i := range t.columns {
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		sum += widths[i] + 2
	}
	if width == 0 {
		return widths
	}
	for _, valued := range []bool{false, true} {
		for i := len(widths) - 1; i >= 0 && sum > width; i-- {
			if t.columns[i].optional && widths[i] > 0 && (valued || !hasValue(rows[1:], i)) {
				sum -= widths[i] + 2
				widths[i] = 0
			}
		}
	}
	for sum > width {
		at := -1
		for i, w := range widths {
			if !t.columns[i].right && w > shortest && (at < 0 || w > widths[at]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		widths[at]--
		sum--
	}
	return widths
}

// hasValue reports whether a row says something in column i.
func hasValue(rows [][]string, i int) bool {
	return slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" && row[i] != "0" && row[i] != "-" })
}

// count is a large number in three digits: 1.23M.
func count(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if n >= u.size {
			if u.name == "k" {
				u.size = 1e3
			}
			return short(n/u.size) + u.name
		}
	}
	return short(n)
}

func short(n float64) string {
	switch {
	case n == float64(int64(n)) || n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

// latencyText is a time in nanoseconds with its unit; "-" where it is not known.
func latencyText(ns *uint32) string {
	if ns == nil {
		return "-"
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if float64(*ns) >= u.size {
			return short(float64(*ns)/u.size) + u.name
		}
	}
	return fmt.Sprintf("%dns", *ns)
}

// ago is how long before now t was.
func ago(now, t time.Time) string {
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh", int(d.Hours()))
}
