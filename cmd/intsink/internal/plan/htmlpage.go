// page: fills page.html (plan --html) with rows of events and collectors, now and before.

package plan

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"

	"intsink/cmd/internal/cli"
	"intsink/engine/event"
)

//go:embed page.html
var pageText string

// pageTemplate fills page.html. It escapes texts of configurations and paths of files.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"figure": figure, "percent": percent, "counts": counts,
}).Parse(pageText))

// page is what page.html shows. Sums of events add up over its rows, as charts do over
// their steps.
type page struct {
	*Result
	Step   string // of the charts' time
	Charts []*chart
	Rows   []eventPair
	Sum    eventPair
	Values []valueRow
	Pairs  []collectorPair
	Bits   [2]uint64 // to all collectors: now, before
}

// eventPair is an event under both configurations.
type eventPair struct {
	Now, Was EventRow
	Change   string
}

// collectorPair is a collector under both configurations.
type collectorPair struct {
	Now, Was CollectorRow
	Change   string
}

// valueRow is the numbers of one step of all charts, one cell each, or two with a
// comparison.
type valueRow struct {
	At    string
	Cells []uint64
}

// writePage writes the page to path.
func (p *Result) writePage(path string) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, newPage(p)); err != nil {
		return err
	}
	return cli.WriteFile(path, b.Bytes())
}

func newPage(p *Result) *page {
	g := &page{Result: p}
	for _, name := range p.eventNames() {
		r := eventPair{Now: p.Event(name)}
		if p.Against != nil {
			r.Was = p.Against.Event(name)
			r.Change = compared(float64(r.Was.Reports.Total), float64(r.Now.Reports.Total))[1]
		}
		g.Rows = append(g.Rows, r)
		g.Sum.add(&r)
	}
	if p.Against != nil {
		g.Sum.Change = compared(float64(g.Sum.Was.Reports.Total), float64(g.Sum.Now.Reports.Total))[1]
	}
	g.addCharts()
	g.addValues()
	g.addCollectors()
	return g
}

func (s *eventPair) add(r *eventPair) {
	s.Now.Fired.Total += r.Now.Fired.Total
	s.Now.Reports.Total += r.Now.Reports.Total
	s.Was.Reports.Total += r.Was.Reports.Total
}

// addCharts draws the events that anything is reported of, the most frequent first.
func (g *page) addCharts() {
	if g.timeline == nil {
		return
	}
	step := max(g.timeline.step, 1)
	g.Step = seconds(step)
	for _, r := range g.Rows {
		e, _ := event.Named(r.Now.Event)
		now, was := g.timeline.of(e), []uint64(nil)
		if g.Against != nil {
			was = g.Against.timeline.of(e)
		}
		if c := newChart(r.Now.Event, now, was, step); c.Now+c.Was > 0 {
			g.Charts = append(g.Charts, c)
		}
	}
	slices.SortStableFunc(g.Charts, func(a, b *chart) int { return int(b.Now+b.Was) - int(a.Now+a.Was) })
}

// addValues lists the steps in which anything is reported.
func (g *page) addValues() {
	for i := 0; g.timeline != nil && i < len(g.timeline.steps); i++ {
		row, reports := valueRow{At: seconds(int64(i) * g.timeline.step)}, uint64(0)
		for _, c := range g.Charts {
			row.Cells = append(row.Cells, at(c.now, i))
			reports += at(c.now, i) + at(c.was, i)
			if g.Against != nil {
				row.Cells = append(row.Cells, at(c.was, i))
			}
		}
		if reports > 0 {
			g.Values = append(g.Values, row)
		}
	}
}

// addCollectors pairs the collectors of both configurations by their names.
func (g *page) addCollectors() {
	add := func(now CollectorRow) {
		c := collectorPair{Now: now}
		if g.Against != nil {
			c.Was, _ = g.Against.collector(now.Collector)
			c.Change = compared(float64(c.Was.Bits.Total), float64(now.Bits.Total))[1]
		}
		g.Bits[0] += c.Now.Bits.Total
		g.Bits[1] += c.Was.Bits.Total
		g.Pairs = append(g.Pairs, c)
	}
	for _, c := range g.Collectors {
		add(c)
	}
	for i := 0; g.Against != nil && i < len(g.Against.Collectors); i++ {
		if name := g.Against.Collectors[i].Collector; !slices.ContainsFunc(g.Collectors, func(c CollectorRow) bool { return c.Collector == name }) {
			add(CollectorRow{Collector: name})
		}
	}
}
