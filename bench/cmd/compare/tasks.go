package main

import (
	"fmt"
	"slices"
	"strings"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
)

// task is one row of intsink: a configuration and the frames that it is measured with.
type task struct {
	name, title  string
	spec         traffic.Spec
	plain        bool // none of the frames counts as INT
	workers      int
	dut          dut.Task
	instructions string // row of bench/cmd/instructions where the worker does the same
	flood        bool   // more flows than there is room for
	short        bool   // measured where no rows are asked for
}

// referenceName is the row whose ratio is the result.
const referenceName = "reference"

// variant returns the reference input, changed.
func variant(change func(*traffic.Spec)) traffic.Spec {
	s := traffic.Reference()
	change(&s)
	return s
}

func taskNames() []string {
	var names []string
	for _, t := range tasks() {
		names = append(names, t.name)
	}
	return names
}

// pickTasks takes a list with commas; empty: the short ones, "all": all.
func pickTasks(list string) ([]task, error) {
	all := tasks()
	switch list {
	case "":
		return slices.DeleteFunc(all, func(t task) bool { return !t.short }), nil
	case "all":
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if !slices.Contains(taskNames(), name) {
			return nil, fmt.Errorf("--rows: no row %q; there are %s", name, strings.Join(taskNames(), ","))
		}
	}
	return slices.DeleteFunc(all, func(t task) bool { return !slices.Contains(wanted, t.name) }), nil
}
