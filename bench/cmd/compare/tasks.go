package main

import (
	"fmt"
	"slices"
	"strings"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/traffic"
)

// task is one row of intsink: what it is configured to do with which frames.
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

var (
	byPort = fmt.Sprintf("udp_port = %d", traffic.UDPPort)
	byDSCP = fmt.Sprintf("dscp = { value = %d, mask = 63 }", traffic.DSCPValue)
)

// tasks are all rows, those of equal frames together.
func tasks() []task {
	watched := dut.Task{INT: byPort, Watch: true}
	capacity := func(flows int) dut.Task { return dut.Task{INT: byPort, Watch: true, Capacity: 2 * flows} }
	return []task{
		{name: "plain", title: "not INT", spec: traffic.Reference(), plain: true, instructions: "plain", short: true,
			dut: dut.Task{INT: fmt.Sprintf("udp_port = %d", traffic.UDPPort+1), Watch: true}},
		{name: "strip", title: "strip only", spec: traffic.Reference(), instructions: "strip", dut: dut.Task{INT: byPort}, short: true},
		{name: referenceName, title: "reference input", spec: traffic.Reference(), instructions: "reference", dut: watched, short: true},
		{name: "sample1", title: "report for every packet", spec: traffic.Reference(), instructions: "sample1", short: true,
			dut: dut.Task{INT: byPort, Watch: true, Sample: 1}},
		{name: "table2k", title: "table for 2000 flows", spec: traffic.Reference(), instructions: "reference", dut: capacity(1000)},
		{name: "table1m", title: "table for 1,048,576 flows", spec: traffic.Reference(), instructions: "reference", dut: capacity(1 << 19)},
		{name: "flows64k", title: "65,536 flows", spec: variant(func(s *traffic.Spec) { s.Flows, s.Frames = 1<<16, 1<<16 }),
			instructions: "reference", dut: capacity(1 << 16)},
		{name: "flows1m", title: "1,048,576 flows", spec: variant(func(s *traffic.Spec) { s.Flows, s.Frames = 1<<20, 1<<20 }),
			instructions: "reference", dut: capacity(1 << 20)},
		{name: "flood", title: "flood, 1,048,576 flows in 65,536", spec: variant(func(s *traffic.Spec) { s.Flows, s.Frames = 1<<20, 1<<20 }),
			instructions: "reference", dut: capacity(1 << 15), flood: true},
		{name: "ipv6", title: "IPv6", spec: variant(func(s *traffic.Spec) { s.IPv6 = true }), instructions: "ipv6", dut: watched},
		{name: "tcp-dscp", title: "TCP by DSCP", spec: variant(func(s *traffic.Spec) { s.Encap, s.TCP = traffic.DSCP, true }),
			instructions: "tcp-dscp", dut: dut.Task{INT: byDSCP, Watch: true}},
		{name: "npt2", title: "NPT 2", spec: variant(func(s *traffic.Spec) { s.Encap = traffic.NPT2 }), instructions: "npt2", dut: watched},
		{name: "hops1", title: "1 hop", spec: variant(func(s *traffic.Spec) { s.Hops = 1 }), instructions: "hops1", dut: watched},
		{name: "hops8", title: "8 hops", spec: variant(func(s *traffic.Spec) { s.Hops = 8 }), instructions: "hops8", dut: watched},
		{name: "size512", title: "512 bytes", spec: variant(func(s *traffic.Spec) { s.Size = 512 }), instructions: "size512", dut: watched},
		{name: "size1400", title: "1400 bytes", spec: variant(func(s *traffic.Spec) { s.Size = 1400 }), instructions: "size1400", dut: watched},
		{name: "workers2", title: "two workers", spec: traffic.Reference(), workers: 2, instructions: "reference", dut: watched},
	}
}

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
			return nil, fmt.Errorf("-rows: no row %q; there are %s", name, strings.Join(taskNames(), ","))
		}
	}
	return slices.DeleteFunc(all, func(t task) bool { return !slices.Contains(wanted, t.name) }), nil
}
