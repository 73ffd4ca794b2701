// exposition: writes the Prometheus text format: samples, labels, histograms.

package observe

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"intsink/engine/histogram"
)

// exposition collects samples and writes them in Prometheus text format, all
// samples of a metric together behind what the metric is.
type exposition struct {
	samples map[string]*bytes.Buffer // by the metric's name
	unknown []string                 // names that Metrics does not have
}

// escapeLabel escapes the three bytes that the format wants escaped.
var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func newExposition() *exposition {
	x := &exposition{samples: make(map[string]*bytes.Buffer, len(Metrics))}
	for _, m := range Metrics {
		x.samples[m.Name] = &bytes.Buffer{}
	}
	return x
}

// add adds one sample. labels are alternately names, from the source code, and
// values, from the configuration or closed lists.
func (x *exposition) add(name string, value uint64, labels ...any) {
	x.addText(name, strconv.FormatUint(value, 10), labels...)
}

// addSeconds adds a sample of so many nanoseconds, in seconds.
func (x *exposition) addSeconds(name string, ns int64, labels ...any) {
	x.addText(name, seconds(ns), labels...)
}

// addHistogram adds the samples of a histogram: classes[i] counts the values that are at most
// bounds[i] and more than the bound before it; sum is the sum of all values.
func (x *exposition) addHistogram(name string, bounds []int, classes []uint64, sum uint64, labels ...any) {
	labels = labels[:len(labels):len(labels)]
	total := uint64(0)
	for i, n := range classes {
		total += n
		x.addSample(name, name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", bounds[i])...)
	}
	x.addSample(name, name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", "+Inf")...)
	x.addSample(name, name+"_sum", strconv.FormatUint(sum, 10), labels...)
	x.addSample(name, name+"_count", strconv.FormatUint(total, 10), labels...)
}

// addTimes adds the samples of a histogram of times, in seconds: of the classes from the
// first one on; those before it are in it.
func (x *exposition) addTimes(name string, h *histogram.Histogram, first int, labels ...any) {
	labels = labels[:len(labels):len(labels)]
	total := uint64(0)
	for i, n := range h.Classes {
		total += n
		le := "+Inf"
		if i < len(histogram.Bounds) {
			le = seconds(histogram.Bounds[i])
		}
		if i >= first {
			x.addSample(name, name+"_bucket", strconv.FormatUint(total, 10), append(labels, "le", le)...)
		}
	}
	x.addSample(name, name+"_sum", seconds(int64(h.Sum)), labels...)
	x.addSample(name, name+"_count", strconv.FormatUint(total, 10), labels...)
}

// seconds is so many nanoseconds as the format writes them.
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'g', -1, 64) }

func (x *exposition) addText(name, value string, labels ...any) {
	x.addSample(name, name, value, labels...)
}

// addSample adds a sample of metric, which name is but for histograms.
func (x *exposition) addSample(metric, name, value string, labels ...any) {
	b := x.samples[metric]
	if b == nil {
		x.unknown = append(x.unknown, name)
		return
	}
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

// writeTo writes every metric that has samples, in the order of Metrics. A sample of
// a metric that is not in the list is an error.
func (x *exposition) writeTo(w io.Writer) error {
	if len(x.unknown) > 0 {
		return fmt.Errorf("%v: not in metriclist.go, so nobody would see it", x.unknown)
	}
	for _, m := range Metrics {
		if b := x.samples[m.Name]; b.Len() > 0 {
			if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", m.Name, m.Help, m.Name, m.Kind(), b); err != nil {
				return err
			}
		}
	}
	return nil
}
