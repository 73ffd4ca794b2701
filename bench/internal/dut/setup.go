package dut

import (
	"flag"
	"fmt"
	"strings"
	"time"
)

// Burst is fixed in intsink (mbuf.MaxBurst); testpmd gets it as a flag.
const Burst = 64

// Setup holds the settings that both programs share, each in one place: a difference between the
// programs' settings would be measured as a difference in speed.
type Setup struct {
	Intsink       string // path of the binary
	Dir           string // for files of this run
	Network, Host string // devices
	Mbufs         int    // pool size
	Control       int    // lcore of everything that forwards nothing
	Lcores        []int  // forwarding lcores
	Memory        Memory
	Env           []string // besides this process's, for intsink
	Profiles      bool     // intsink serves Go's profiles, for Intsink.Profile
	Log           string   // file that intsink's log goes to; empty: it is kept for faults
	Socket        string   // unix socket of intsink's API; empty: none
	// Unattended testpmd reads no commands, so Read tells nothing: its prompt polls,
	// which takes the control lcore whole.
	Unattended bool
}

// Flags registers the flags of the set-up: lcores, hugepages, programs.
func (s *Setup) Flags(f *flag.FlagSet) {
	f.StringVar(&s.Intsink, "intsink", "bin/intsink", "binary to measure")
	f.IntVar(&s.Mbufs, "mbufs", 16384, "mbufs in the packet pool of both programs")
	f.IntVar(&s.Control, "control", 0, "lcore for everything that does not forward")
	s.Memory = Memory{mode: "auto", dir: pageDir}
	f.Var(&s.Memory, "hugepages", "2 MiB hugepages for both programs: `auto` (where root can have them), on or off; those that are added are given back")
}

// MemoryKind names the kind of memory for a heading.
func (s *Setup) MemoryKind() string { return s.Memory.kind }

// String names the sizes that count, for a heading.
func (s *Setup) String() string {
	return fmt.Sprintf("%d mbufs, burst %d, lcores %s, %s", s.Mbufs, Burst, s.lcoreList(), s.Memory.kind)
}

func (s *Setup) lcoreList() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Lcores), " ", ","), "[]")
}

// Reading holds the counters of a device under test at one time, for packets to the host.
type Reading struct {
	At        time.Time
	Forwarded float64
	Counters  Counters // intsink's; zero of testpmd
}

// DUT is a program that forwards.
type DUT interface {
	// Read returns its counters so far.
	Read() (Reading, error)
	// PID is its process.
	PID() int
	// Stop ends it; an error is a fault of the run.
	Stop() error
}

// PcapLoop returns a device that plays a capture from memory without end, on each of its queues.
func PcapLoop(capture string, queues int) string {
	return "net_pcap0" + strings.Repeat(",rx_pcap="+capture, queues) + ",infinite_rx=1"
}

// Discard is a device that receives nothing, takes every packet and frees it.
const Discard = "net_null0,no-rx=1"
