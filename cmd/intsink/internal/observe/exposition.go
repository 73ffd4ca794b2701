// exposition: writes the Prometheus text format: samples, labels, histograms.

package observe

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"intsink/engine/histogram"
	"intsink/engine/metric"
)

// exposition collects metrics and writes them in Prometheus text format, all
// samples of a metric together behind what the metric is.
type exposition struct {
	order  []*written
	byName map[string]*written
}

// written is a metric as it is written.
type written struct {
	name, help string
	histogram  bool
	samples    bytes.Buffer
}

// escapeLabel escapes the three bytes that the format wants escaped.
var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func newExposition() *exposition { return &exposition{byName: map[string]*written{}} }

// add takes the samples of metrics.
func (x *exposition) add(all []metric.Bound) {
	for _, m := range all {
		w := x.byName[m.Name]
		if w == nil {
			w = &written{name: m.Name, help: m.Help}
			x.byName[m.Name], x.order = w, append(x.order, w)
		}
		m.Samples(w)
	}
}

// kind is the metric's type: what counts is named _total, and some are histograms.
func (m *written) kind() string {
	switch {
	case m.histogram:
		return "histogram"
	case strings.HasSuffix(m.name, "_total"):
		return "counter"
	}
	return "gauge"
}

// Add implements metric.Samples. labels are alternately names, from the source code, and
// values, from the configuration or closed lists.
func (m *written) Add(value uint64, labels ...any) {
	m.sample(m.name, strconv.FormatUint(value, 10), labels...)
}

// Seconds implements metric.Samples.
func (m *written) Seconds(ns int64, labels ...any) { m.sample(m.name, seconds(ns), labels...) }

// Sizes implements metric.Samples.
func (m *written) Sizes(bounds []int, classes []uint64, sum uint64, labels ...any) {
	labels = labels[:len(labels):len(labels)]
	total := uint64(0)
	for i, n := range classes {
		total += n
		m.sample(m.name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", bounds[i])...)
	}
	m.sample(m.name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", "+Inf")...)
	m.sum(total, strconv.FormatUint(sum, 10), labels)
}

// Times implements metric.Samples.
func (m *written) Times(h *histogram.Histogram, first int, labels ...any) {
	labels = labels[:len(labels):len(labels)]
	total := uint64(0)
	for i, n := range h.Classes {
		total += n
		le := "+Inf"
		if i < len(histogram.Bounds) {
			le = seconds(histogram.Bounds[i])
		}
		if i >= first {
			m.sample(m.name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", le)...)
		}
	}
	m.sum(total, seconds(int64(h.Sum)), labels)
}

// sum ends the samples of a histogram.
func (m *written) sum(total uint64, sum string, labels []any) {
	m.histogram = true
	m.sample(m.name+"_sum", sum, labels...)
	m.sample(m.name+"_count", strconv.FormatUint(total, 10), labels...)
}

// seconds is so many nanoseconds as the format writes them.
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'g', -1, 64) }

// sample adds a sample called name, which is the metric's own but for histograms.
func (m *written) sample(name, value string, labels ...any) {
	b := &m.samples
	b.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		fmt.Fprintf(b, `%s="%s"`, labels[i], escapeLabel.Replace(fmt.Sprint(labels[i+1])))
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	fmt.Fprintf(b, " %s\n", value)
}

// writeTo writes every metric that has samples.
func (x *exposition) writeTo(w io.Writer) error {
	for _, m := range x.order {
		if m.samples.Len() > 0 {
			if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", m.name, m.help, m.name, m.kind(), m.samples.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}
