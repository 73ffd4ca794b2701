// Command latency measures how long frames take through intsink, and through
// dpdk-testpmd, which shows what the two net_memif ports and the generator add by
// themselves; and what the Go runtime and the kernel cost meanwhile.
//
//	go run ./bench/cmd/latency [--seconds 5s] [--loads 10,50,90] [--turns 10]
//
// The difference between intsink and testpmd io at the same rate is what the sink
// adds. The generator stands on the CPU that does not forward; what it could not
// read in time, because it did not get its CPU, is left out and counted.
package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/lab"
	"intsink/bench/internal/results"
	"intsink/bench/internal/tool"
	"intsink/bench/internal/traffic"
)

func main() { tool.Main("latency", run) }

type options struct {
	lab     lab.Flags
	loads   string
	seconds time.Duration
	settle  time.Duration
	burst   int
	results string
	turns   int
	slice   time.Duration
	fifo    bool
	mpps    float64
	who     string
}

func run() error {
	var o options
	o.lab.Register(flag.CommandLine)
	flag.StringVar(&o.loads, "loads", "10,50,90", "offered load in percent of what intsink forwards when it is offered more")
	flag.DurationVar(&o.seconds, "seconds", 5*time.Second, "length of each measurement")
	flag.DurationVar(&o.settle, "settle", 500*time.Millisecond, "time under load before each measurement")
	flag.IntVar(&o.burst, "burst", 8, "frames that the generator sends at a time")
	flag.StringVar(&o.results, "results", "", "also replace the section latency of this file")
	flag.IntVar(&o.turns, "turns", 0, "measure only what --who costs: so many rounds of a slice with and without")
	flag.StringVar(&o.who, "who", "pages", "with --turns: `pages` (ten open, and a scrape a second) or clients (a thousand of each kind, slow readers, a full disk)")
	flag.Float64Var(&o.mpps, "mpps", 5, "with --turns: offered load, in million frames per second")
	flag.DurationVar(&o.slice, "slice", 500*time.Millisecond, "with --turns: length of a slice")
	flag.BoolVar(&o.fifo, "fifo", false, "with --turns: the worker's thread goes before all ordinary ones of its CPU (SCHED_FIFO), so that other processes stay off; a deployment has its CPU for itself instead")
	flag.Parse()
	if o.who != "pages" && o.who != "clients" {
		return fmt.Errorf("--who %q: must be pages or clients", o.who)
	}
	frames, err := lab.Frames(traffic.Reference())
	if err != nil {
		return err
	}
	l, err := o.lab.Open()
	if err != nil {
		return err
	}
	defer l.Close()
	s := &session{options: &o, lab: l, frames: frames}
	conditions, undo, err := s.conditions()
	if err != nil {
		return err
	}
	defer undo()
	if o.turns > 0 {
		return s.inTurns(conditions)
	}
	if err := s.findCapacity(); err != nil {
		return err
	}
	what := fmt.Sprintf("%v per row over net_memif, bursts of %d, reference input; 100 %% is %.2f Mpps; %v. Times in microseconds.\n\n",
		o.seconds, o.burst, s.capacity/1e6, &l.Setup)
	fmt.Print(what)
	body, err := s.tables()
	if err != nil || o.results == "" {
		return err
	}
	return results.ReplaceHere(o.results, "latency", results.Heading()+what+body)
}

// conditions are those that --turns compares, quiet first. undo takes away what they need.
func (s *session) conditions() (all []condition, undo func(), err error) {
	if s.options.who == "pages" {
		return []condition{quiet(), watchedSlices()}, func() {}, nil
	}
	d, undo, err := newFullDisk(s.lab.Setup.Dir)
	if err != nil {
		return nil, nil, err
	}
	s.lab.Setup.Log, s.lab.Setup.Socket = d.log(), filepath.Join(s.lab.Setup.Dir, "api.sock")
	return append([]condition{quiet()}, clients(d)...), undo, nil
}

// tables measures and prints the loads, then the causes.
func (s *session) tables() (string, error) {
	cells := [][]string{{"", "load", "Mpps", "p50", "p99", "p99.9", "max", "lost", "gaps ≥100µs", "≥1ms", "≥10ms", "left out", "undisturbed"}}
	for _, load := range strings.Split(s.options.loads, ",") {
		percent, err := strconv.ParseFloat(load, 64)
		if err != nil {
			return "", fmt.Errorf("--loads: %w", err)
		}
		for _, p := range lab.Programs() {
			m, err := s.measure(p, percent, nil)
			if err != nil {
				return "", fmt.Errorf("%s at %s %%: %w", p.Title, load, err)
			}
			cells = append(cells, m.latencyLine(p.Title, load))
			fmt.Println(strings.Join(cells[len(cells)-1], "  "))
		}
	}
	causes, err := s.causes()
	if err != nil {
		return "", err
	}
	body := results.Table(cells) + "\n" + legend + "\n" + causes
	fmt.Print("\n" + body)
	return body, nil
}

const legend = `gaps: times between two polls of the worker (intsink_long_poll_gaps_total). left out: frames that the generator read late. undisturbed: part of
the time, in slices of 50 ms, in which the kernel gave the worker's CPU to no other process; the row is of these slices. Where it says none, the row is of
all slices, and p99 and above are the machine's and not the sink's.
`

// session is what all measurements share.
type session struct {
	options  *options
	lab      *lab.Lab
	frames   [][]byte
	capacity float64 // frames per second
}

func (s *session) load(pps float64, d time.Duration) generator.Load {
	return generator.Load{Frames: s.frames, PPS: pps, Burst: s.options.burst, Duration: d}
}

// findCapacity offers more than intsink can take. The best of some short runs: on
// a shared machine any of them may be disturbed.
func (s *session) findCapacity() error {
	p, err := lab.Pick("intsink")
	if err != nil {
		return err
	}
	return s.lab.With(p, func(dut.DUT) error {
		for range 5 {
			r, err := s.lab.Generator.Run(s.load(0, 300*time.Millisecond))
			if err != nil {
				return err
			}
			s.capacity = max(s.capacity, float64(r.Received)/r.Seconds)
		}
		return nil
	})
}
