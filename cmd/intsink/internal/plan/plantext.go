// Prints a Result as tables of text.

package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/simulate"
)

// print writes the tables of the plan.
func (p *Result) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %.1f s, %d packets, %d with INT\n", p.Capture, p.Seconds, p.Packets.Received, p.Packets.INT)
	for _, line := range p.lines {
		fmt.Fprintln(&b, line)
	}
	p.printFlows(&b)
	if p.Against != nil {
		p.Against.printFlows(&b)
	}
	b.WriteByte('\n')
	p.eventTable().print(&b)
	b.WriteByte('\n')
	p.collectorTable().print(&b)
	p.printBudget(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Result) printFlows(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %d flows watched, at most %d in the table, %d evicted\n", p.Config, p.Flows.Watched, p.Flows.Peak, p.Flows.Evicted)
	if len(p.Flows.ByWatch) > 0 {
		fmt.Fprintf(b, "%s: by watch: %s\n", p.Config, simulate.TextOfWatches(p.Flows.ByWatch))
	}
}

func (p *Result) eventTable() table {
	t := table{
		{"", "events/s", "", "reports/s", "", "% of INT"},
		{"event", "mean", "peak", "mean", "peak", "packets"},
	}
	t.header(p.Against != nil, "reports/s", "suppressed")
	names := p.eventNames()
	for _, name := range names {
		e := p.Event(name)
		row := []string{name, figure(e.Fired.Mean), figure(float64(e.Fired.Peak)), figure(e.Reports.Mean), figure(float64(e.Reports.Peak)), percent(e.Share)}
		if p.Against != nil {
			row = append(row, compared(p.Against.Event(name).Reports.Mean, e.Reports.Mean)...)
		}
		t = append(t, append(row, counts(e.Suppressed)))
	}
	if len(names) == 0 {
		t = append(t, []string{"none"})
	}
	return t
}

// eventNames are the events that occur under one configuration or the other.
func (p *Result) eventNames() (names []string) {
	for _, q := range []*Result{p, p.Against} {
		for i := 0; q != nil && i < len(q.Events); i++ {
			if name := q.Events[i].Event; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (p *Result) collectorTable() table {
	t := table{
		{"", "reports/s", "", "packets/s", "", "bits/s", ""},
		{"collector", "mean", "peak", "mean", "peak", "mean", "peak"},
	}
	t.header(p.Against != nil, "bits/s", "dropped")
	add := func(c CollectorRow) {
		row := []string{c.Collector}
		for _, r := range []Rate{c.Reports, c.Packets, c.Bits} {
			row = append(row, figure(r.Mean), figure(float64(r.Peak)))
		}
		if p.Against != nil {
			old, _ := p.Against.collector(c.Collector)
			row = append(row, compared(old.Bits.Mean, c.Bits.Mean)...)
		}
		t = append(t, append(row, counts(c.Dropped)))
	}
	for _, c := range p.Collectors {
		add(c)
	}
	if p.Against != nil {
		for _, c := range p.Against.Collectors {
			if _, ok := p.collector(c.Collector); !ok {
				add(CollectorRow{Collector: c.Collector})
			}
		}
	}
	if len(t) == 2 {
		t = append(t, []string{"none"})
	}
	return t
}

// printBudget says what collectors' budgets keep from them, and which reports lack hops.
func (p *Result) printBudget(b *strings.Builder) {
	for _, c := range p.Collectors {
		if len(c.Shed) > 0 {
			fmt.Fprintf(b, "\n%s: its budget sheds %s\n", c.Collector, counts(c.Shed))
		}
		if c.Cut > 0 {
			fmt.Fprintf(b, "\n%s: %s end inside of INT and lack hops: report { fragment = \"int\" } shows all of it, where coalesce { max_bytes } has room\n",
				c.Collector, cli.Count(int(c.Cut), "report"))
		}
	}
}

// table is rows of cells; the first two are headings. The first column, and the last,
// which may be empty, begin at the left.
type table [][]string

// header adds the headings of the columns behind the figures.
func (t table) header(against bool, what, last string) {
	if against {
		t[0] = append(t[0], what, "")
		t[1] = append(t[1], "was", "change")
	}
	t[0] = append(t[0], "")
	t[1] = append(t[1], last)
}

func (t table) print(b *strings.Builder) {
	last := len(t[0]) - 1
	width := make([]int, last+1)
	for _, row := range t {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range t {
		line := ""
		for i, cell := range row {
			switch i {
			case 0:
				line = fmt.Sprintf("%-*s", width[0], cell)
			case last:
				line += "  " + cell
			default:
				line += fmt.Sprintf("  %*s", width[i], cell)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// figure is a number in at most three or four digits.
func figure(x float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if x < 9999.5 {
			break
		}
		x, unit = x/1000, u
	}
	switch {
	case x == 0:
		return "0"
	case x < 0.01:
		return "<0.01"
	case x < 9.995:
		return trimZeros(fmt.Sprintf("%.2f", x)) + unit
	case x < 99.95:
		return trimZeros(fmt.Sprintf("%.1f", x)) + unit
	}
	return fmt.Sprintf("%.0f", x) + unit
}

func trimZeros(s string) string { return strings.TrimRight(strings.TrimRight(s, "0"), ".") }

func percent(share float64) string { return figure(100 * share) }

// compared is what was, and the change in percent.
func compared(old, now float64) []string {
	switch {
	case old == now:
		return []string{figure(old), "="}
	case old == 0:
		return []string{"0", "new"}
	}
	return []string{figure(old), fmt.Sprintf("%+.0f%%", 100*(now-old)/old)}
}

// counts are numbers by reason.
func counts(m map[string]uint64) string {
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", reason, m[reason]))
	}
	return strings.Join(out, ", ")
}
