// Package lab joins a generator and a device under test with two net_memif
// ports: shared memory between the two processes, no NIC and no kernel.
//
//	generator (CPU control) == memif 0 ==> device under test (CPU lcore) == memif 1 ==> generator
package lab

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"intsink/bench/internal/cleanup"
	"intsink/bench/internal/dut"
	"intsink/bench/internal/generator"
	"intsink/bench/internal/traffic"
	"intsink/dpdk/eal"
)

// Lab is a generator and what devices under test need to join it.
type Lab struct {
	Setup     dut.Setup
	Generator *generator.Generator
	removeDir func()
	giveBack  func() // hugepages
}

// Flags are those of programs that use a lab.
type Flags struct {
	setup dut.Setup
	lcore int
}

// Register registers the flags.
func (f *Flags) Register(set *flag.FlagSet) {
	f.setup.Flags(set)
	set.IntVar(&f.lcore, "lcore", 1, "the forwarding lcore")
}

const generatorMbufs = 1<<13 - 1

// Open starts EAL and the generator's ends of both ports, on the lcore that does
// not forward; there all of this process stays. Close removes what it made.
func (f *Flags) Open() (*Lab, error) {
	if err := dut.Confine(f.setup.Control); err != nil {
		return nil, fmt.Errorf("lcore %d, for all that does not forward: %w", f.setup.Control, err)
	}
	dir, err := os.MkdirTemp("", "intsink-lab-")
	if err != nil {
		return nil, err
	}
	l := &Lab{Setup: f.setup, removeDir: cleanup.Add(func() { os.RemoveAll(dir) })}
	if l.giveBack, err = l.Setup.Memory.Take(l.Setup.Mbufs); err != nil {
		l.removeDir()
		return nil, err
	}
	l.Setup.Dir, l.Setup.Lcores, l.Setup.Unattended = dir, []int{f.lcore}, true
	socket := filepath.Join(dir, "memif.sock")
	device := func(role string, n int) string {
		return fmt.Sprintf("net_memif%d,role=%s,id=%d,socket=%s,socket-abstract=no", n, role, n, socket)
	}
	l.Setup.Network, l.Setup.Host = device("client", 0), device("client", 1)
	args, _, err := eal.Args(eal.Options{Hugepages: "off", MemoryMiB: 256})
	if err == nil {
		err = eal.Init(args)
	}
	if err == nil {
		l.Generator, err = generator.Open(generator.Config{
			Out: device("server", 0), In: device("server", 1), CPU: f.setup.Control, Mbufs: generatorMbufs,
		})
	}
	if err != nil {
		l.giveBack()
		l.removeDir()
		return nil, err
	}
	return l, nil
}

// Close ends the generator, and gives hugepages back.
func (l *Lab) Close() {
	l.Generator.Close()
	eal.Cleanup()
	l.giveBack()
	l.removeDir()
}

// Program is a device under test: testpmd in a mode, or intsink with a task.
type Program struct {
	Title    string
	Mode     string // of testpmd; empty: intsink
	Task     dut.Task
	Env      []string // for intsink
	Profiles bool     // intsink serves Go's profiles
}

// Programs are those that are compared.
func Programs() []Program {
	byPort := fmt.Sprintf("udp_port = %d", traffic.UDPPort)
	return []Program{
		{Title: "testpmd io", Mode: "io"},
		{Title: "intsink strip only", Task: dut.Task{INT: byPort}},
		{Title: "intsink", Task: dut.Task{INT: byPort, Watch: true}},
		{Title: "intsink report for every packet", Task: dut.Task{INT: byPort, Watch: true, Sample: 1}},
	}
}

// Pick finds the program with this title.
func Pick(title string) (Program, error) {
	var titles []string
	for _, p := range Programs() {
		if p.Title == title {
			return p, nil
		}
		titles = append(titles, p.Title)
	}
	return Program{}, fmt.Errorf("no program %q; there are %s", title, strings.Join(titles, ", "))
}

// With runs the program, joined to the generator, while f runs.
func (l *Lab) With(p Program, f func(dut.DUT) error) (err error) {
	setup := l.Setup
	setup.Env, setup.Profiles = p.Env, p.Profiles
	var d dut.DUT
	if p.Mode != "" {
		d, err = dut.StartTestpmd(&setup, p.Mode)
	} else {
		d, err = dut.StartIntsink(&setup, p.Task)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	if err := l.Generator.WaitLinks(15 * time.Second); err != nil {
		return err
	}
	if err := f(d); err != nil {
		return err
	}
	r, err := d.Read()
	if err == nil && p.Mode == "" {
		err = r.Counters.Check(true)
	}
	return err
}

// Frames of a spec, as many as the generator takes turns with.
func Frames(s traffic.Spec) ([][]byte, error) {
	m, err := traffic.New(s)
	if err != nil {
		return nil, err
	}
	var frames [][]byte
	for i := range s.Frames {
		_, f, err := m.Frame(i)
		if err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, nil
}
