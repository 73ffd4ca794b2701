//go:build linux && amd64

// Command instructions counts the instructions that a worker executes per
// packet, and compares them with a committed file. Unlike time, the count is the
// same on a busy machine, so a small regression shows.
//
//	make bench-check            # fails where a row grew by 5 % or more, or hostile400 is above its bound
//	make bench-check UPDATE=1   # rewrites bench/instructions.json
//
// Hardware counters are not needed: it runs itself as a child and steps through some bursts of it, instruction by
// instruction (ptrace, PTRACE_SINGLESTEP). The worker is the one of package
// engine between two ports in memory; what these ports and pools execute is left
// out, so calls into DPDK are not part of the count.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"intsink/bench/internal/tool"
)

func main() { tool.Main("instructions", run) }

func run() error {
	path := flag.String("file", "bench/instructions.json", "committed counts")
	update := flag.Bool("update", false, "write the file instead of comparing with it")
	limit := flag.Float64("limit", 5, "growth that fails, in percent")
	only := flag.String("rows", "", "rows to count, comma separated; empty: all of "+strings.Join(rowNames(), ","))
	functions := flag.Int("functions", 0, "list that many functions of each row, the most expensive first, and those with the most atomic instructions")
	asJSON := flag.Bool("json", false, "print the counts as one JSON object, and compare nothing")
	grow := flag.Bool("growth", false, "count what more hops, bytes, watches, rules and links cost, and compare nothing")
	file := flag.String("results", "", "with -growth: also replace the section growth of this file")
	child := flag.String("child", "", "be the process that is counted, on this row")
	flag.Parse()
	if *child != "" {
		return runChild(*child)
	}
	if *grow {
		return printGrowth(*file)
	}
	rows, err := rowsNamed(*only)
	if err != nil {
		return err
	}
	committed, err := readFile(*path)
	if err != nil && !(*update && errors.Is(err, os.ErrNotExist)) {
		return err
	}
	text := io.Writer(os.Stdout)
	if *asJSON {
		text = io.Discard
	}
	level := buildLevel()
	counts := map[string]float64{}
	for _, r := range rows {
		p, err := trace(r.name, r.counted())
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, explain(err))
		}
		all, atomics := p.perFunction(), p.atomics()
		counts[r.name] = p.perPacket(all)
		was := committed.Levels[level][r.name]
		fmt.Fprintf(text, "%-16s %8.1f instructions per packet%s\n", r.name, counts[r.name], change(was, counts[r.name]))
		p.print(text, *functions, all)
		if *functions > 0 {
			fmt.Fprintf(text, "%-16s %8.2f of them atomic\n", "", p.perPacket(atomics))
			p.print(text, *functions, atomics)
		}
	}
	if err := checkAgainst(rows, counts); err != nil {
		return err
	}
	switch {
	case *asJSON:
		return json.NewEncoder(os.Stdout).Encode(counts)
	case *update:
		return committed.update(*path, level, counts)
	}
	return committed.compare(level, counts, *limit)
}

// explain adds to an error what to do if the kernel forbids ptrace, which this program needs.
func explain(err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		return fmt.Errorf("%w: instructions cannot be counted here, because the kernel does not let one process step through another; "+
			"in a container, allow ptrace (docker run --cap-add=SYS_PTRACE)", err)
	}
	return err
}
