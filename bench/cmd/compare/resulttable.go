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
	tsc := dut.TSC()
	head := []string{"", "Mpps", "ns/packet", "ns above io", "ratio to io", "TSC cycles", "instr.", "allocs", "cgo"}
	if counts {
		head = append(head, "cycles", "cache miss", "TLB miss")
	}
	head = append(head, "what is in it")
	cells := [][]string{head}
	for _, r := range rows {
		line := []string{
			r.title,
			fmt.Sprintf("%.2f", results.SpreadOf(r.values(rate)).Median/1e6),
			fmt.Sprintf("%.1f", results.SpreadOf(r.values(nsPerPacket)).Median),
			fmt.Sprintf("%.1f", results.SpreadOf(r.each(r.base, nsPerPacket, difference)).Median),
			r.ratio().String(),
			"-", "-", "-", "-",
		}
		if tsc > 0 {
			line[5] = fmt.Sprintf("%.0f", results.SpreadOf(r.values(nsPerPacket)).Median*tsc)
		}
		if n := stepped[r.task.instructions]; n > 0 {
			line[6] = fmt.Sprintf("%.0f", n)
		}
		if r.mode == "" {
			line[7] = fmt.Sprintf("%.4f", results.SpreadOf(r.values(func(r *outcome) float64 { return r.allocs })).Median)
			line[8] = fmt.Sprintf("%.3f", results.SpreadOf(r.values(func(r *outcome) float64 { return r.cgoCalls })).Median)
		}
		if counts {
			line[6] = r.counted(dut.Events[0], "%.0f")
			line = append(line, r.counted("cycles:u", "%.0f"), r.counted("cache-misses", "%.3f"), r.counted("dTLB-load-misses", "%.3f"))
		}
		cells = append(cells, append(line, r.included()))
	}
	return results.Table(cells)
}

// Bytes that one frame, and one flow, have in the caches: the mbuf's header and the frame's lines; a bucket's line and two
// of the flow.
const (
	lineLen      = 64
	headerLen    = 2 * lineLen
	flowLinesLen = 3 * lineLen
)

// touched is how many bytes are read and written from the time a packet of a flow comes until its next one comes.
func (r *row) touched() int {
	n := r.spec.Frames * (headerLen + (r.spec.Size+lineLen-1)/lineLen*lineLen)
	if r.mode == "" && r.task.dut.Watch {
		n += min(r.spec.Flows, r.task.dut.Places()) * flowLinesLen
	}
	return n
}

// included tells what a packet's time has in it: I/O, and which cache holds what is touched; of intsink, how
// many flows its table has room for, and whether packets find theirs.
func (r *row) included() string {
	text := "I/O"
	switch {
	case r.mode != "":
	case !r.task.dut.Watch:
		text += ", no flows"
	case r.task.plain:
		text += ", no INT"
	case r.task.flood:
		text += fmt.Sprintf(", table of %d, most flows not in it", r.task.dut.Places())
	default:
		text += fmt.Sprintf(", table of %d, all flows in it", r.task.dut.Places())
	}
	n := r.touched()
	for level := 2; level <= 3; level++ {
		if n <= dut.Cache(level) {
			return text + fmt.Sprintf("; hot (L%d)", level)
		}
	}
	return text + "; cold (memory)"
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
	if tsc := dut.TSC(); tsc > 0 {
		fmt.Fprintf(&b, "TSC cycles: ns/packet at %.3f GHz, the pace of the time stamp counter as the kernel tells it. These are reference cycles: how often the core itself "+
			"ticked meanwhile, which may be faster or slower, only hardware counters tell.\n", tsc)
	}
	if kept := leastKept(rows); kept < 0.99 {
		fmt.Fprintf(&b, "Other threads (of other processes, and intsink's own exporter) took the workers' CPUs, up to %.0f %% of a run: "+
			"rates are of the workers' CPU time, so that time is left out; what the others did to the caches is not.\n",
			100*(1-kept))
	}
	return b.String() + scaling(rows, s) + prices(rows) + turns(rows)
}

// prices tells, round by round, what a report for every packet costs beside the reference input, and what many flows
// cost besides what they cost testpmd, beside a thousand.
func prices(rows []*row) string {
	var b strings.Builder
	reference := named(rows, referenceName)
	if reference == nil {
		return ""
	}
	for _, name := range []string{"sample1", "explained"} {
		if r := named(rows, name); r != nil {
			fmt.Fprintf(&b, "%s: %v times the reference input\n", r.task.title, results.SpreadOf(r.each(reference, nsPerPacket, quotient)))
		}
	}
	aboveIO := reference.each(reference.base, nsPerPacket, difference)
	for _, name := range []string{"flows64k", "flows1m", "flood"} {
		if r := named(rows, name); r != nil {
			more := r.each(r.base, nsPerPacket, difference)
			for i := range more {
				more[i] -= aboveIO[i]
			}
			x := results.SpreadOf(more)
			fmt.Fprintf(&b, "%s: %.1f ns above io more than 1000 flows (%.1f to %.1f)\n", r.task.title, x.Median, x.Min, x.Max)
		}
	}
	return b.String()
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
