package main

import (
	"fmt"
	"strings"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/results"
)

// table is every row relative to testpmd io on the same input, as Markdown. Where
// the machine counts nothing in hardware, instructions are those of stepping
// through the worker, without the driver's.
func table(rows []*row, stepped map[string]float64, counts bool) string {
	head := []string{"", "Mpps", "ns/packet", "ns above io", "ratio to io", "instr.", "allocs", "cgo"}
	if counts {
		head = append(head, "cache miss", "TLB miss")
	}
	cells := [][]string{head}
	for _, r := range rows {
		line := []string{
			r.title,
			fmt.Sprintf("%.2f", results.SpreadOf(r.values(rate)).Median/1e6),
			fmt.Sprintf("%.1f", results.SpreadOf(r.values(nsPerPacket)).Median),
			fmt.Sprintf("%.1f", results.SpreadOf(r.each(r.base, nsPerPacket, difference)).Median),
			r.ratio().String(),
			"-", "-", "-",
		}
		if n := stepped[r.task.instructions]; n > 0 {
			line[5] = fmt.Sprintf("%.0f", n)
		}
		if r.mode == "" {
			line[6] = fmt.Sprintf("%.4f", results.SpreadOf(r.values(func(r *outcome) float64 { return r.allocs })).Median)
			line[7] = fmt.Sprintf("%.3f", results.SpreadOf(r.values(func(r *outcome) float64 { return r.cgoCalls })).Median)
		}
		if counts {
			line[5] = r.counted(dut.Events[0], "%.0f")
			line = append(line, r.counted("cache-misses", "%.3f"), r.counted("dTLB-load-misses", "%.3f"))
		}
		cells = append(cells, line)
	}
	return results.Table(cells)
}

// counted returns the median of a hardware event per packet.
func (r *row) counted(event, format string) string {
	for i := range r.runs {
		if _, ok := r.runs[i].counted[event]; !ok {
			return "not counted"
		}
	}
	return fmt.Sprintf(format, results.SpreadOf(r.values(func(r *outcome) float64 { return r.counted[event] })).Median)
}

// notes returns what a reader must know about the numbers of the table.
func notes(rows []*row, s *session) string {
	var b strings.Builder
	if !s.counts {
		b.WriteString("Cache and TLB misses: not counted here, this machine has no hardware counters (perf stat). " +
			"Instructions are those of the worker without the driver, counted by stepping through it.\n")
	} else {
		b.WriteString("Instructions in user mode, the driver's included, cache and TLB misses: per packet, of the first worker, by the hardware's counters.\n")
	}
	if kept := leastKept(rows); kept < 0.99 {
		fmt.Fprintf(&b, "Other threads (of other processes, and intsink's own exporter) took the workers' CPUs, up to %.0f %% of a run: "+
			"rates are of the workers' CPU time, so that time is left out; what the others did to the caches is not.\n",
			100*(1-kept))
	}
	return b.String() + scaling(rows, s) + turns(rows)
}

// turns tells what --intsink saves against the other program, round by round.
func turns(rows []*row) string {
	var b strings.Builder
	for _, r := range rows {
		if r.than != nil {
			saved := results.SpreadOf(r.each(r.than, nsPerPacket, difference))
			fmt.Fprintf(&b, "%s: %.1f ns less than %s (%.1f to %.1f)\n", r.than.title, saved.Median, r.program, saved.Min, saved.Max)
		}
	}
	return b.String()
}

// leastKept returns the smallest part of any run in which the worker had its CPU.
func leastKept(rows []*row) float64 {
	least := 1.0
	for _, r := range rows {
		for i := range r.runs {
			least = min(least, r.runs[i].kept)
		}
	}
	return least
}

// headline returns the result in one line.
func headline(rows []*row) string {
	r := named(rows, referenceName)
	if r == nil {
		return ""
	}
	return fmt.Sprintf("ratio to testpmd io, reference input: %v\n", r.ratio())
}

// ratio returns how r's rate relates to testpmd io's on the same input.
func (r *row) ratio() results.Spread { return results.SpreadOf(r.each(r.base, rate, quotient)) }
