// Command compare runs dpdk-testpmd and intsink in turns on the same virtual
// devices, mbuf pool size, burst and lcore, and prints the ratio of their rates
// with its spread. Rates of shared machines drift by the minute; the ratio of
// two runs that follow each other does not.
//
//	go run ./bench/cmd/compare [--rounds 5] [--seconds 3s] [--rows all] [--results bench/RESULTS.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"intsink/bench/internal/cleanup"
	"intsink/bench/internal/dut"
	"intsink/bench/internal/results"
	"intsink/bench/internal/tool"
)

func main() { tool.Main("compare", run) }

func run() error {
	s := session{captures: captures{}, counts: dut.CanCount()}
	s.Flags(flag.CommandLine)
	lcore := flag.Int("lcore", 1, "the forwarding lcore")
	second := flag.Int("second-lcore", secondLcore(), "the forwarding lcore of the second worker")
	flag.DurationVar(&s.warmup, "warmup", time.Second, "run before measuring")
	flag.DurationVar(&s.measure, "seconds", 2*time.Second, "measured interval of each run")
	flag.StringVar(&s.profile, "profile", "", "write a CPU profile of intsink's last run to this file (slows that run)")
	rounds := flag.Int("rounds", 3, "how often every program runs")
	modes := flag.String("testpmd", "io,macswap,5tswap,csum", "forwarding modes of testpmd on the first input, besides io; ovs is Open vSwitch (scripts/deps.sh ovs installs it)")
	only := flag.String("rows", "", "rows, comma separated, or all: "+strings.Join(taskNames(), ","))
	stepper := flag.String("instructions", "", "binary of bench/cmd/instructions; empty: instructions are not counted by stepping")
	other := flag.String("other", "", "another intsink, which takes its turn behind --intsink in every row")
	file := flag.String("results", "", "also replace the section compare of this file")
	flag.Parse()
	s.lcores = []int{*lcore, *second}

	picked, err := pickTasks(*only)
	if err != nil {
		return err
	}
	if err := dut.Confine(s.Control); err != nil {
		return fmt.Errorf("lcore %d, for all that does not forward: %w", s.Control, err)
	}
	rows := plan(picked, strings.Split(*modes, ","), *other)
	if s.Dir, err = os.MkdirTemp("", "intsink-bench-"); err != nil {
		return err
	}
	defer cleanup.Add(func() { os.RemoveAll(s.Dir) })()
	giveBack, err := s.takeMemory(rows)
	if err != nil {
		return err
	}
	defer giveBack()
	if err := s.captures.make(&s.Setup, rows); err != nil {
		return err
	}
	what := fmt.Sprintf("%d rounds of %v after %v; %d mbufs besides the capture's, burst %d, lcore %d, %s",
		*rounds, s.measure, s.warmup, s.Mbufs, dut.Burst, *lcore, s.MemoryKind())
	fmt.Println(what)
	if err := s.rounds(*rounds, rows); err != nil {
		return err
	}
	counted, err := stepped(*stepper, rows)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare: instructions that are not counted:", err)
	}
	body := table(rows, counted, s.counts) + "\n" + notes(rows, &s)
	fmt.Print("\n" + body)
	if *file != "" {
		body = results.Heading() + what + ".\n\n" + body
		if err := results.ReplaceHere(*file, "compare", body); err != nil {
			return err
		}
	}
	fmt.Print(headline(rows))
	return nil
}

// takeMemory reserves what the largest row needs.
func (s *session) takeMemory(rows []*row) (giveBack func(), err error) {
	most := 0
	for _, r := range rows {
		most = max(most, s.mbufs(r))
	}
	return s.Memory.Take(most)
}

// rounds runs every row once in each round.
func (s *session) rounds(n int, rows []*row) error {
	for round := range n {
		for _, r := range rows {
			result, err := s.run(r)
			if err != nil {
				return fmt.Errorf("%s: %w", r.title, err)
			}
			r.runs = append(r.runs, result)
			fmt.Printf("  round %d  %-36s %6.2f Mpps, had its CPU %3.0f %% of the time\n", round+1, r.title, result.rate/1e6, 100*result.kept)
		}
	}
	return nil
}

// secondLcore returns the third CPU or, where there are two, the first: what does not forward has
// it, too.
func secondLcore() int {
	if runtime.NumCPU() > 2 {
		return 2
	}
	return 0
}
