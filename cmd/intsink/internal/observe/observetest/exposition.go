// For tests: parses Prometheus text and checks its form.

// Package observetest reads what /metrics writes, for tests.
package observetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Exposition is one exposition: the types of metrics and the values of series.
type Exposition struct {
	Kind   map[string]string
	Help   map[string]string
	Series map[string]float64 // name and labels as they stand
}

var (
	metricName = `[a-zA-Z_:][a-zA-Z0-9_:]*`
	label      = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
	sampleLine = regexp.MustCompile(`^(` + metricName + `)(\{` + label + `(?:, ?` + label + `)*\})? (\S+)$`)
	metaLine   = regexp.MustCompile(`^# (HELP|TYPE) (` + metricName + `)(?: (.*))?$`)
)

// Parse checks text against Prometheus' text format: TYPE once and
// before the samples, the samples of a metric together, no series twice.
func Parse(t testing.TB, text string) Exposition {
	t.Helper()
	p := Exposition{map[string]string{}, map[string]string{}, map[string]float64{}}
	current, closed := "", map[string]bool{}
	enter := func(line, name string) {
		if p.Kind[current] == "histogram" || p.Kind[current] == "summary" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, suffix); ok && base == current {
					return
				}
			}
		}
		if name == current {
			return
		}
		closed[current] = true
		if current = name; closed[name] {
			t.Errorf("%q: the samples of the metric do not stand together", line)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := metaLine.FindStringSubmatch(line); m != nil {
			enter(line, m[2])
			what := map[string]map[string]string{"HELP": p.Help, "TYPE": p.Kind}[m[1]]
			if _, twice := what[m[2]]; twice {
				t.Errorf("%q: a second time", line)
			}
			what[m[2]] = m[3]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is no sample", line)
			continue
		}
		enter(line, m[1])
		value, err := strconv.ParseFloat(m[3], 64)
		if _, twice := p.Series[m[1]+m[2]]; err != nil || twice {
			t.Errorf("%q: a second time, or no value: %v", line, err)
		}
		if k := p.Kind[current]; k != "counter" && k != "gauge" && k != "histogram" && k != "summary" {
			t.Errorf("%q: of type %q", line, k)
		}
		p.Series[m[1]+m[2]] = value
	}
	return p
}

// documentedRow is a metric in docs/metrics.md.
var documentedRow = regexp.MustCompile("(?m)^\\| `(intsink_\\w+)(?:\\{[a-z0-9,]*\\})?` \\| (.*) \\|$")

// Documented are the metrics of docs/metrics.md below root, with what it says of each.
func Documented(t testing.TB, root string) map[string]string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root, "docs/metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range documentedRow.FindAllStringSubmatch(string(doc), -1) {
		all[m[1]] = strings.ReplaceAll(m[2], "`", "")
	}
	return all
}
