package dut

import (
	"fmt"
	"os"

	"intsink/bench/internal/cleanup"
)

// Memory is the kind of memory that both programs get: a flag, and the outcome.
type Memory struct {
	mode string // auto, on, off
	dir  string // of the kernel's numbers
	huge bool
	kind string
}

// String returns the flag's value.
func (m *Memory) String() string { return m.mode }

// Set sets the flag.
func (m *Memory) Set(mode string) error {
	if mode != "auto" && mode != "on" && mode != "off" {
		return fmt.Errorf(`%q: use "auto", "on" or "off"`, mode)
	}
	m.mode = mode
	return nil
}

// Take reserves hugepages for a program with so many mbufs, where the mode allows it and
// the machine can; with "on" it fails where it cannot. What it returns gives them
// back, and so does a signal.
func (m *Memory) Take(mbufs int) (release func(), err error) {
	m.huge, m.kind = false, "no hugepages"
	if m.mode == "off" || m.mode == "" {
		return func() {}, nil
	}
	h := &hugepages{dir: m.dir}
	release = cleanup.Add(func() { h.release() })
	// Half of it for what is not an mbuf; EAL maps some areas of pages of their own.
	if err = h.reserve(128 + hugeMiB(mbufs)/2); err == nil {
		m.huge, m.kind = true, "2 MiB hugepages"
		if h.added > 0 {
			m.kind += fmt.Sprintf(" (vm.nr_hugepages raised by %d for this run)", h.added)
		}
		return release, nil
	}
	release()
	if m.mode == "on" {
		return func() {}, fmt.Errorf("--hugepages on: %w", err)
	}
	if os.IsPermission(err) {
		err = fmt.Errorf("only root can reserve them")
	}
	m.kind += fmt.Sprintf(" (%v)", err)
	return func() {}, nil
}

// hugeMiB is what a program with so many mbufs takes in hugepages, smallMiB without
// them: an mbuf does not cross a page, so one of 2,368 bytes takes a small page whole.
func hugeMiB(mbufs int) int  { return 256 + mbufs*2560>>20 }
func smallMiB(mbufs int) int { return 256 + mbufs*4096>>20 }
