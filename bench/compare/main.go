// Command compare runs dpdk-testpmd and intsink in turns on the same virtual
// devices, mbuf pool size, burst and lcore, and prints the ratio of their rates
// with its spread. Rates of shared machines drift by the minute; the ratio of
// two runs that follow each other does not.
//
//	go run ./bench/compare [-rounds 5] [-seconds 3] [-testpmd io,macswap] [-rows reference]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// setup is what both programs share. One field, one place: a difference between
// them would be measured as a difference in speed.
type setup struct {
	intsink   string // path of the binary
	capture   string // packets that the network side receives over and over
	frameLen  int    // of each of its packets
	mbufs     int    // pool size
	memory    int    // MiB of EAL memory of testpmd; intsink computes its own
	control   int    // lcore of everything that forwards nothing
	lcore     int    // the forwarding lcore
	hugepages bool
	warmup    time.Duration
	measure   time.Duration
	dir       string // for files of this run
	profile   string // where intsink's CPU profile goes; empty: none
}

// burst is fixed in intsink (mbuf.MaxBurst); testpmd gets it as a flag.
const burst = 64

// vdevs: the network side plays the capture without end, the host side swallows
// what it is given.
func (s *setup) networkVdev() string {
	return "net_pcap0,rx_pcap=" + s.capture + ",infinite_rx=1"
}

const hostVdev = "net_null0,no-rx=1"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	s := setup{}
	flag.StringVar(&s.intsink, "intsink", "bin/intsink", "binary to measure")
	flag.IntVar(&s.mbufs, "mbufs", 16384, "mbufs in the packet pool of both programs")
	flag.IntVar(&s.memory, "memory", 512, "MiB of EAL memory of testpmd")
	flag.IntVar(&s.control, "control", 0, "lcore for everything that does not forward")
	flag.IntVar(&s.lcore, "lcore", 1, "the forwarding lcore")
	flag.BoolVar(&s.hugepages, "hugepages", false, "reserve 2 MiB hugepages and use them in both programs (root)")
	flag.DurationVar(&s.warmup, "warmup", time.Second, "run before measuring")
	flag.DurationVar(&s.measure, "seconds", 3*time.Second, "measured interval of each run")
	flag.StringVar(&s.capture, "capture", "", "frames of your own, each with INT over UDP port 5000, instead of generated ones")
	flag.StringVar(&s.profile, "profile", "", "write a CPU profile of intsink's last run to this file (slows that run)")
	rounds := flag.Int("rounds", 5, "how often every program runs")
	modes := flag.String("testpmd", "io,macswap,5tswap,csum", "forwarding modes of testpmd; all ratios are to the first")
	only := flag.String("rows", "", "inputs of intsink, comma separated; empty: all of "+strings.Join(inputNames(), ","))
	gen := genFlags(flag.CommandLine)
	flag.Parse()

	dir, err := os.MkdirTemp("", "intsink-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.dir = dir
	if s.hugepages {
		if err := reserveHugepages(2 * s.memory); err != nil {
			return err
		}
	}
	if err := s.makeCapture(gen); err != nil {
		return err
	}
	rows, err := s.rows(strings.Split(*modes, ","), *only)
	if err != nil {
		return err
	}
	fmt.Printf("%d rounds of %v after %v; %d-byte frames, %d mbufs, burst %d, lcore %d, %s\n",
		*rounds, s.measure, s.warmup, s.frameLen, s.mbufs, burst, s.lcore, s.memoryKind())
	for range *rounds {
		for i := range rows {
			r := &rows[i]
			rate, err := r.measure(&s)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.rates = append(r.rates, rate)
			fmt.Printf("  %-28s %6.2f Mpps\n", r.name, rate/1e6)
		}
	}
	printTable(os.Stdout, rows)
	return nil
}

func (s *setup) memoryKind() string {
	if s.hugepages {
		return "2 MiB hugepages"
	}
	return "no hugepages"
}

// ealArgs are EAL options of testpmd: those that intsink gives itself.
func (s *setup) ealArgs() []string {
	if s.hugepages {
		return []string{"--no-pci", "--no-telemetry", "--in-memory"}
	}
	return []string{"--no-pci", "--no-telemetry", "--no-shconf", "--no-huge", "-m", fmt.Sprint(s.memory)}
}
