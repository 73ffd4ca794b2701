// Command rfc2544 searches the throughput of intsink and of dpdk-testpmd, as RFC 2544 defines it
// (26.1): the highest rate without a lost frame. One hiccup of a virtual machine spoils that, so
// it also searches the highest rate at which at most 0.5 % of the frames are lost.
//
// On one machine, over net_memif, it is the generator itself:
//
//	go run ./bench/cmd/rfc2544 [--sizes 138,512,1400] [--seconds 2s]
//
// With NICs, it makes Pktgen-DPDK send, here or on another machine, and asks it
// what came back (bench/pktgen/README.md); the device under test runs already:
//
//	go run ./bench/cmd/rfc2544 --pktgen "bench/pktgen/pktgen.sh 0000:3b:00.0 0000:3b:00.1 int-138.pcap"
package main

import (
	"flag"
	"fmt"
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

func main() { tool.Main("rfc2544", run) }

// options are the flags of the search.
type options struct {
	lab        lab.Flags
	sizes      string
	hops       int
	programs   string
	seconds    time.Duration
	resolution float64
	tries      int
	patience   int
	burst      int
	pktgen     string

	pktgenAddress, pktgenPorts string
	results                    string
}

// losses are the shares of lost frames that are searched for.
var losses = []float64{0, 0.005}

func run() error {
	var o options
	o.lab.Register(flag.CommandLine)
	flag.StringVar(&o.sizes, "sizes", "138,512,1400", "bytes of the frames, comma separated")
	flag.IntVar(&o.hops, "hops", 3, "hops in each frame, 20 bytes each")
	flag.StringVar(&o.programs, "programs", "testpmd io,intsink", "devices under test, comma separated")
	flag.DurationVar(&o.seconds, "seconds", 2*time.Second, "length of a trial; RFC 2544 asks for 60 s for the last one")
	flag.Float64Var(&o.resolution, "resolution", 0.02, "width of the last bracket, as a part of its upper end")
	flag.IntVar(&o.tries, "tries", 2, "tries of a rate before it has failed; RFC 2544: 1")
	flag.IntVar(&o.patience, "patience", 3, "tries of a rate that do not count because other processes took the device's CPU; RFC 2544: 0")
	flag.IntVar(&o.burst, "burst", 32, "frames that the generator sends at a time")
	flag.StringVar(&o.pktgen, "pktgen", "", "command that starts Pktgen-DPDK, with -G; empty: generate here, over net_memif")
	flag.StringVar(&o.pktgenAddress, "pktgen-address", "127.0.0.1:22022", "where that Pktgen listens")
	flag.StringVar(&o.pktgenPorts, "pktgen-ports", "0,1", "its ports: the sending one, the receiving one")
	flag.StringVar(&o.results, "results", "", "also replace the section rfc2544 of this file")
	flag.Parse()
	if o.pktgen != "" {
		return o.withPktgen()
	}
	l, err := o.lab.Open()
	if err != nil {
		return err
	}
	defer l.Close()
	cells := [][]string{{"", "bytes", "offered most, Mpps", "no loss, Mpps", "0.5 % loss, Mpps"}}
	for _, size := range strings.Split(o.sizes, ",") {
		for _, title := range strings.Split(o.programs, ",") {
			line, err := o.measure(l, title, size)
			if err != nil {
				return fmt.Errorf("%s, %s bytes: %w", title, size, err)
			}
			fmt.Println(strings.Join(line, "  "))
			cells = append(cells, line)
		}
	}
	return o.report(l, results.Table(cells))
}

// measure is one line: a program on frames of one size.
func (o *options) measure(l *lab.Lab, title, size string) (line []string, err error) {
	p, err := lab.Pick(title)
	if err != nil {
		return nil, err
	}
	spec := traffic.Reference()
	spec.Hops = o.hops
	if spec.Size, err = strconv.Atoi(size); err != nil {
		return nil, err
	}
	frames, err := lab.Frames(spec)
	if err != nil {
		return nil, err
	}
	line = []string{title, strconv.Itoa(len(frames[0]))}
	err = l.With(p, func(d dut.DUT) error {
		top, err := l.Generator.Run(generator.Load{Frames: frames, Burst: o.burst, Duration: time.Second})
		if err != nil {
			return err
		}
		line = append(line, mpps(top.Rate()))
		for _, loss := range losses {
			s := search{
				top: float64(top.Received) / top.Seconds, grow: true, loss: loss, resolution: o.resolution, tries: o.tries, patience: o.patience,
				try: func(rate float64) (trial, error) { return o.trial(l, d, frames, rate) },
			}
			best, ok, err := s.run()
			if err != nil {
				return err
			}
			if !ok {
				line = append(line, "none")
				continue
			}
			line = append(line, mpps(best.Rate))
		}
		return nil
	})
	return line, err
}

func mpps(rate float64) string { return fmt.Sprintf("%.2f", rate/1e6) }

// trial offers one rate over memif.
func (o *options) trial(l *lab.Lab, d dut.DUT, frames [][]byte, rate float64) (trial, error) {
	before, err := dut.Worker(d.PID(), l.Setup.Lcores[0])
	if err != nil {
		return trial{}, err
	}
	r, err := l.Generator.Run(generator.Load{Frames: frames, PPS: rate, Burst: o.burst, Duration: o.seconds})
	if err != nil {
		return trial{}, err
	}
	after, err := dut.ReadThread(d.PID(), before.TID)
	lostCPU := after.Since(before).Involuntary
	t := trial{Rate: r.Rate(), Loss: float64(r.Lost()) / float64(r.Offered), Disturbed: lostCPU > 0}
	fmt.Printf("    %6.2f Mpps offered: %8d of %d lost (%.4f %%), %d refused by the port; the worker lost its CPU %d times\n",
		t.Rate/1e6, r.Lost(), r.Offered, 100*t.Loss, r.Refused, lostCPU)
	return t, err
}

func (o *options) report(l *lab.Lab, table string) error {
	what := fmt.Sprintf("Trials of %v over net_memif, bursts of %d, bracket %g %%; a rate fails after %d tries, besides up to %d during which other processes "+
		"took the device's CPU; %v.\n\n", o.seconds, o.burst, 100*o.resolution, o.tries, o.patience, &l.Setup)
	fmt.Print("\n", what, table)
	if o.results == "" {
		return nil
	}
	return results.Replace(o.results, "rfc2544", results.Heading()+what+table)
}
