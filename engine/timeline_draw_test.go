package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// canvas is text that is written column by column.
type canvas struct {
	widths []int // of each column
	out    strings.Builder
	left   int // width of the widest name of a row
}

// row writes one line: cell i says what stands in column i.
func (c *canvas) row(name, edge string, fill byte, cell func(i int) string) {
	line := fmt.Sprintf("%*s %s", c.left, name, edge)
	for i, w := range c.widths {
		s := cell(i)
		line += strings.Repeat(string(fill), w-len(s)) + s
	}
	c.out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// draw makes the picture of what happened.
func (l *timeline) draw(columns []column) string {
	var c canvas
	c.out.WriteString(l.caption + "\n\n")
	for i := range columns {
		w := max(len(l.time(&columns[i])), len(columns[i].token)) + 2
		c.widths = append(c.widths, w)
	}
	for _, name := range append(l.levelNames(), l.row, "withheld", l.counted.String(), l.axis()) {
		c.left = max(c.left, len(name))
	}
	if l.value != "" {
		fmt.Fprintf(&c.out, "%*s\n", c.left, l.value)
	}
	for _, v := range l.levels {
		fill := byte(' ')
		if v.threshold {
			fill = '-'
		}
		c.row(v.name, "|", fill, func(i int) string {
			if !columns[i].idle && columns[i].level == v.at {
				return "o"
			}
			return ""
		})
	}
	if l.row != "" {
		c.row(l.row, "|", ' ', func(i int) string { return columns[i].token })
	}
	c.row("", "+", '-', func(int) string { return "" })
	c.row(l.axis(), " ", ' ', func(i int) string { return l.time(&columns[i]) })
	mark := func(name string, on func(*column) bool) {
		any := false
		for i := range columns {
			any = any || on(&columns[i])
		}
		if any {
			c.row(name, " ", ' ', func(i int) string {
				if on(&columns[i]) {
					return "^"
				}
				return ""
			})
		}
	}
	mark("report", func(c *column) bool { return len(c.reports) > 0 })
	mark("withheld", func(c *column) bool { return c.withheld > 0 })
	if l.counted != 0 {
		mark(l.counted.String(), func(c *column) bool { return c.counted > 0 })
	}
	c.out.WriteByte('\n')
	for i := range columns {
		for _, r := range columns[i].reports {
			fmt.Fprintf(&c.out, "%s %s: %s\n", l.time(&columns[i]), l.unitName(), r)
		}
	}
	return c.out.String()
}

func (l *timeline) levelNames() (names []string) {
	for _, v := range l.levels {
		names = append(names, v.name)
	}
	return append(names, l.value)
}

func (l *timeline) unitName() string {
	return map[int64]string{1e6: "ms", 1e9: "s"}[l.unit]
}

func (l *timeline) axis() string { return "time, " + l.unitName() }

func (l *timeline) time(c *column) string {
	return strconv.FormatFloat(float64(c.now)/float64(l.unit), 'f', -1, 64)
}
