// Metrics of counters, declared beside the code that counts; sums of counters.

// Package metric is how a stage, an aside or another part declares its metrics beside its counters: names, help
// texts and samples. The endpoint makes one list of them, docs/metrics.md has the same: a test compares.
package metric

import (
	"reflect"

	"intsink/engine/histogram"
)

// Of is a metric that is made of counters C.
type Of[C any] struct {
	Name, Help string
	Samples    func(c *C, to Samples)
}

// Samples takes the samples of the metric at hand. Labels are alternately names, from the source code, and values, from
// closed lists.
type Samples interface {
	// Add adds a sample.
	Add(value uint64, labels ...any)
	// Seconds adds a sample of so many nanoseconds.
	Seconds(ns int64, labels ...any)
	// Times adds a histogram of times, of the classes from first on: those before it are in it.
	Times(h *histogram.Histogram, first int, labels ...any)
	// Sizes adds a histogram: classes[i] counts the values that are at most bounds[i] and more than the bound before
	// it; sum is the sum of all values.
	Sizes(bounds []int, classes []uint64, sum uint64, labels ...any)
}

// Within makes metrics of a part those of the whole, in which of finds the part.
func Within[Whole, Part any](all []Of[Part], of func(*Whole) *Part) []Of[Whole] {
	out := make([]Of[Whole], len(all))
	for i, m := range all {
		out[i] = Of[Whole]{m.Name, m.Help, func(c *Whole, to Samples) { m.Samples(of(c), to) }}
	}
	return out
}

// Add adds every number of o to that of sum: in structs and arrays, not behind pointers, slices or maps. It takes its
// time: it is for readers of counters, not for the packet path.
func Add[C any](sum, o *C) { add(reflect.ValueOf(sum).Elem(), reflect.ValueOf(o).Elem()) }

func add(sum, o reflect.Value) {
	switch {
	case sum.Kind() == reflect.Struct:
		for i := range sum.NumField() {
			add(sum.Field(i), o.Field(i))
		}
	case sum.Kind() == reflect.Array:
		for i := range sum.Len() {
			add(sum.Index(i), o.Index(i))
		}
	case sum.CanUint():
		sum.SetUint(sum.Uint() + o.Uint())
	case sum.CanInt():
		sum.SetInt(sum.Int() + o.Int())
	}
}
