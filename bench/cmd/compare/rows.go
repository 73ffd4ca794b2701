package main

import (
	"slices"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
)

// row is one line of the result: one program with one task.
type row struct {
	title   string
	spec    traffic.Spec
	workers int
	mode    string // of testpmd, or openVswitch; empty: intsink
	program string // another intsink than --intsink
	task    task
	base    *row // testpmd io on the same input
	than    *row // what --intsink does with the same task, of a row of another program
	runs    []outcome
}

// openVswitch is the mode of a row of Open vSwitch in place of testpmd.
const openVswitch = "ovs"

// outcome is the result of one run. All values except the rate are per packet.
type outcome struct {
	rate     float64 // packets per second of CPU time: the sum of the workers' rates
	kept     float64 // part of the time in which it had
	allocs   float64
	cgoCalls float64
	counted  dut.Counts
}

// plan makes the rows. Each input (frames and a number of workers) begins with testpmd io on
// that input, the first one with testpmd's other modes as well. Each task is run by intsink, and by other, if there is
// one.
func plan(tasks []task, modes []string, other string) []*row {
	var rows []*row
	type input struct {
		spec    traffic.Spec
		workers int
	}
	bases := map[input]*row{}
	for _, t := range tasks {
		in := input{t.spec, max(1, t.workers)}
		if bases[in] == nil {
			base := &row{title: "testpmd io", spec: in.spec, workers: in.workers, mode: "io"}
			if len(bases) > 0 {
				base.title += ", " + t.title
			}
			base.base, bases[in] = base, base
			rows = append(rows, base)
			for _, mode := range modes {
				if len(bases) == 1 && mode != "io" {
					title := "testpmd " + mode
					if mode == openVswitch {
						title = "Open vSwitch"
					}
					rows = append(rows, &row{title: title, spec: in.spec, workers: in.workers, mode: mode, base: base})
				}
			}
		}
		r := &row{title: "intsink " + t.title, spec: in.spec, workers: in.workers, task: t, base: bases[in]}
		rows = append(rows, r)
		if other != "" {
			rival := *r
			rival.title, rival.program, rival.than = "other "+t.title, other, r
			rows = append(rows, &rival)
		}
	}
	return rows
}

// values are one number of each run.
func (r *row) values(f func(*outcome) float64) []float64 {
	var v []float64
	for i := range r.runs {
		v = append(v, f(&r.runs[i]))
	}
	return v
}

func rate(r *outcome) float64        { return r.rate }
func nsPerPacket(r *outcome) float64 { return 1e9 / r.rate }

// each combines r with other round by round: a round's runs are close in time.
func (r *row) each(other *row, value func(*outcome) float64, f func(is, base float64) float64) []float64 {
	v := r.values(value)
	for i, base := range other.values(value) {
		v[i] = f(v[i], base)
	}
	return v
}

func quotient(a, b float64) float64   { return a / b }
func difference(a, b float64) float64 { return a - b }

// named finds the row of a task.
func named(rows []*row, name string) *row {
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.task.name == name }); i >= 0 {
		return rows[i]
	}
	return nil
}
