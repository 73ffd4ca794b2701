// chart: draws one event's reports over time as SVG paths, for plan --html.

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Where the plot is in the SVG of page.html, between the labels of both axes.
const (
	plotLeft, plotTop     = 52, 10
	plotWidth, plotHeight = 566, 96
)

// chart is the reports of one event over time: now as bars, was as a line before them.
type chart struct {
	now, was []uint64
	Event    string
	Now, Was uint64 // reports in all steps
	Change   string // of the reports, in percent; empty without a comparison
	Most     uint64 // in one step, of both: the top of the plot
	Bars     string // path of what is now
	Line     string // path of what was; empty without a comparison
	Steps    []chartStep
	Ticks    []tick
}

// chartStep is where the pointer shows the numbers of a step that has any.
type chartStep struct{ X, Width, Title string }

// tick is a label of the time axis.
type tick struct{ X, Label string }

// newChart draws series of equal steps; was is nil without a comparison.
func newChart(event string, now, was []uint64, step int64) *chart {
	c := &chart{now: now, was: was, Event: event, Now: sum(now), Was: sum(was), Most: 1}
	steps := max(len(now), len(was))
	for _, n := range slices.Concat(now, was) {
		c.Most = max(c.Most, n)
	}
	x := func(i int) string { return coordinate(plotLeft + float64(i)*plotWidth/float64(steps)) }
	c.Bars = c.outline(now, x) + "Z"
	if was != nil {
		c.Line = c.outline(was, x)
		c.Change = compared(float64(c.Was), float64(c.Now))[1]
	}
	for i := range steps {
		n, w := at(now, i), at(was, i)
		if n == 0 && w == 0 {
			continue
		}
		title := fmt.Sprintf("%s to %s: %d", seconds(int64(i)*step), seconds(int64(i+1)*step), n)
		if was != nil {
			title += fmt.Sprintf(", was %d", w)
		}
		c.Steps = append(c.Steps, chartStep{x(i), coordinate(plotWidth / float64(steps)), title})
	}
	c.Ticks = ticks(int64(steps) * step)
	return c
}

// outline goes from the axis over the steps of a series and back to the axis.
func (c *chart) outline(series []uint64, x func(int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %d", x(0), plotTop+plotHeight)
	for i, n := range series {
		if i == 0 || n != series[i-1] { // equal steps are one line
			fmt.Fprintf(&b, "H%sV%s", x(i), coordinate(plotTop+plotHeight*(1-float64(n)/float64(c.Most))))
		}
	}
	fmt.Fprintf(&b, "H%sV%d", x(len(series)), plotTop+plotHeight)
	return b.String()
}

// ticks are at most nine round times from 0 to the end: every 1, 2, 5, 10, 20, 50, ...
func ticks(end int64) (all []tick) {
	every, unit := firstStep, firstStep
	for end/every > 8 {
		switch every / unit {
		case 1:
			every = 2 * unit
		case 2:
			every = 5 * unit
		default:
			unit *= 10
			every = unit
		}
	}
	for at := int64(0); at <= end; at += every {
		all = append(all, tick{coordinate(plotLeft + float64(at)*plotWidth/float64(end)), seconds(at)})
	}
	return all
}

func at(series []uint64, i int) uint64 {
	if i < len(series) {
		return series[i]
	}
	return 0
}

func sum(series []uint64) (total uint64) {
	for _, n := range series {
		total += n
	}
	return total
}

// coordinate is a number of the SVG, to a hundredth.
func coordinate(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(trimZeros(s), ".")
}

// seconds is a time of the capture, for people: 300 ms, 2.5 s, 1h2m.
func seconds(ns int64) string {
	switch d := time.Duration(ns); {
	case d == 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	default:
		return strings.TrimSuffix(d.Truncate(time.Second).String(), "0s")
	}
}
