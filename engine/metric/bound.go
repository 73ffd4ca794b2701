// Bound: a metric with the counters that its samples are made of, for who writes it.

package metric

import "intsink/engine/histogram"

// Bound is a metric with its counters. More than one of a name are one metric.
type Bound struct {
	Name, Help string
	Samples    func(to Samples)
}

// Bind gives metrics their counters, and their samples labels in front of their own.
func Bind[C any](all []Of[C], c *C, labels ...any) []Bound {
	out := make([]Bound, len(all))
	for i, m := range all {
		out[i] = Bound{m.Name, m.Help, func(to Samples) { m.Samples(c, labelled{to, labels[:len(labels):len(labels)]}) }}
	}
	return out
}

// labelled puts labels in front of those of each sample.
type labelled struct {
	to     Samples
	labels []any
}

func (l labelled) Add(value uint64, labels ...any) { l.to.Add(value, append(l.labels, labels...)...) }

func (l labelled) Seconds(ns int64, labels ...any) { l.to.Seconds(ns, append(l.labels, labels...)...) }

func (l labelled) Times(h *histogram.Histogram, first int, labels ...any) {
	l.to.Times(h, first, append(l.labels, labels...)...)
}

func (l labelled) Sizes(bounds []int, classes []uint64, sum uint64, labels ...any) {
	l.to.Sizes(bounds, classes, sum, append(l.labels, labels...)...)
}

// One is the value of a metric that says yes or no.
func One(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}
