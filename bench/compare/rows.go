package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// row is one line of the result: one program with one task.
type row struct {
	name    string
	measure func(*setup) (packetsPerSecond float64, err error)
	rates   []float64 // per round
}

// referenceName is the row whose ratio is the result.
const referenceName = "reference"

// inputs are the tasks of intsink over the same frames.
var inputs = []struct {
	name, title string
	input       input
}{
	// Strip, look up the flow, evaluate every event that is on by default.
	{referenceName, "intsink reference input", input{stripped: true, udpPort: genUDPPort}},
	// The same frames, not marked as INT by this configuration.
	{"plain", "intsink not INT", input{udpPort: genUDPPort + 1}},
	// Besides, a report of every packet to a collector that keeps up or not.
	{"sample1", "intsink report every packet", input{stripped: true, udpPort: genUDPPort, sample: 1}},
}

func inputNames() []string {
	var names []string
	for _, in := range inputs {
		names = append(names, in.name)
	}
	return names
}

// rows are testpmd's modes, then intsink's inputs, all or those named in only.
func (s *setup) rows(modes []string, only string) ([]row, error) {
	var rows []row
	for _, mode := range modes {
		rows = append(rows, row{
			name:    "testpmd " + mode,
			measure: func(s *setup) (float64, error) { return runTestpmd(s, mode) },
		})
	}
	wanted := strings.Split(only, ",")
	for _, in := range inputs {
		if only != "" && !slices.Contains(wanted, in.name) {
			continue
		}
		rows = append(rows, row{
			name:    in.title,
			measure: func(s *setup) (float64, error) { return runIntsink(s, in.input) },
		})
	}
	if len(rows) == len(modes) {
		return nil, fmt.Errorf("-rows %q names none of %s", only, strings.Join(inputNames(), ", "))
	}
	return rows, nil
}

// spread is the median of the values and their range.
type spread struct{ median, min, max float64 }

func spreadOf(v []float64) spread {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return spread{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

// ratios divides round by round: a round's runs are close in time.
func ratios(v, base []float64) []float64 {
	r := make([]float64, len(v))
	for i := range v {
		r[i] = v[i] / base[i]
	}
	return r
}

// printTable prints every row relative to the first one.
func printTable(w io.Writer, rows []row) {
	base := rows[0]
	fmt.Fprintf(w, "\n%-28s %8s %10s   %s\n", "", "Mpps", "ns/packet", "ratio to "+base.name+": median (min-max)")
	for _, r := range rows {
		rate, ratio := spreadOf(r.rates), spreadOf(ratios(r.rates, base.rates))
		fmt.Fprintf(w, "%-28s %8.2f %10.1f   %.2f (%.2f-%.2f)\n",
			r.name, rate.median/1e6, 1e9/rate.median, ratio.median, ratio.min, ratio.max)
	}
	for _, r := range rows {
		if r.name == inputs[0].title {
			ratio := spreadOf(ratios(r.rates, base.rates))
			fmt.Fprintf(w, "ratio to %s, reference input: %.2f (%.2f-%.2f)\n", base.name, ratio.median, ratio.min, ratio.max)
		}
	}
}
