// Command trial joins a device under test to the generator, over net_memif, and offers it frames as
// it is asked on its standard input: a line with frames a second and seconds is answered by a
// line with how many were offered and how many came back. bench/throughput.py asks.
//
//	trial --program intsink --size 138
//	ready <frames a second at most> <what the numbers are of>
//	6000000 2
//	12000000 11999876
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/lab"
	"intsink/bench/internal/results"
	"intsink/bench/internal/tool"
	"intsink/bench/internal/traffic"
)

func main() { tool.Main("trial", run) }

func run() error {
	var flags lab.Flags
	flags.Register(flag.CommandLine)
	spec := traffic.Reference()
	flag.IntVar(&spec.Size, "size", spec.Size, "bytes of the frames")
	flag.IntVar(&spec.Hops, "hops", 3, "hops in each frame, 20 bytes each")
	program := flag.String("program", "intsink", "device under test")
	burst := flag.Int("burst", 32, "frames that the generator sends at a time")
	flag.Parse()
	answers := os.Stdout
	os.Stdout = os.Stderr // what DPDK and others print is no answer
	p, err := lab.Pick(*program)
	if err != nil {
		return err
	}
	frames, err := lab.Frames(spec)
	if err != nil {
		return err
	}
	l, err := flags.Open()
	if err != nil {
		return err
	}
	defer l.Close()
	return l.With(p, func(dut.DUT) error {
		offer := func(rate float64, d time.Duration) (*generator.Result, error) {
			return l.Generator.Run(generator.Load{Frames: frames, PPS: rate, Burst: *burst, Duration: d})
		}
		top, err := offer(0, time.Second)
		if err != nil {
			return err
		}
		fmt.Fprintf(answers, "ready %.0f %s; net_memif, bursts of %d, %v\n", top.Rate(), results.Machine(), *burst, &l.Setup)
		return answer(os.Stdin, answers, func(rate, seconds float64) (offered, received uint64, err error) {
			r, err := offer(rate, time.Duration(seconds*float64(time.Second)))
			if err != nil {
				return 0, 0, err
			}
			return r.Offered, r.Offered - r.Lost(), nil
		})
	})
}

// answer answers questions, a line each, until there are no more.
func answer(questions io.Reader, answers io.Writer, try func(rate, seconds float64) (offered, received uint64, err error)) error {
	lines := bufio.NewScanner(questions)
	for lines.Scan() {
		var rate, seconds float64
		if _, err := fmt.Sscan(lines.Text(), &rate, &seconds); err != nil || rate <= 0 || seconds <= 0 {
			return fmt.Errorf("%q: two numbers above 0, frames a second and seconds", lines.Text())
		}
		offered, received, err := try(rate, seconds)
		if err != nil {
			return err
		}
		fmt.Fprintln(answers, offered, received)
	}
	return lines.Err()
}
