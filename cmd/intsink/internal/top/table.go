// table: aligns rows in columns; writes counts, latencies and ages in few characters.

package top

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// table is rows of cells below a head; right[i]: column i is a number.
type table struct {
	head  []string
	right []bool
	rows  [][]string
}

// newTable makes a table of columns. A name that begins with ">" is of a column of numbers, which
// are aligned to the right.
func newTable(columns ...string) *table {
	t := &table{}
	for _, c := range columns {
		name, number := strings.CutPrefix(c, ">")
		t.head, t.right = append(t.head, name), append(t.right, number)
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines are the head and at most n rows, in columns; empty where there are none.
func (t *table) lines(n int, empty string) []string {
	if len(t.rows) == 0 {
		return []string{empty}
	}
	all := append([][]string{t.head}, t.rows[:min(n, len(t.rows))]...)
	width := make([]int, len(t.head))
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var lines []string
	for _, row := range all {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				b.WriteString(pad + c + "  ")
			} else {
				b.WriteString(c + pad + "  ")
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
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
