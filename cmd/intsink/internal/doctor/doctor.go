// Runs the checks of doctor in their order, prints their findings.

package doctor

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"unicode"

	"intsink/cmd/internal/cli"
	"intsink/conf"
	"intsink/dpdk/iface"
)

// Level says how bad a finding is.
type Level uint8

const (
	OK    Level = iota
	Slow        // the sink works, but not as fast or as steadily as it could
	Fault       // the sink does not start, or loses packets or reports
)

// String is the word in front of a finding.
func (l Level) String() string { return [...]string{"ok", "slow", "FAULT"}[l] }

// Finding is what one check found.
type Finding struct {
	Level Level
	What  string // what was looked at, and how it is
	Fix   string // a command, "" where nothing is to be done
}

// Machine is what the checks look at.
type Machine struct {
	Root  string                         // of sysfs and procfs: "/", elsewhere in tests
	Route func(to netip.AddrPort) error  // nil: the kernel has a way to a collector
	Peer  func(to netip.AddrPort) string // what came back for an empty datagram, "" if nothing

	Offloads  func(name string) iface.Offloads // of an interface of the kernel; nil: unknown
	Addresses func(name string) []netip.Addr   // of such an interface; nil: unknown
	Clock     func() (synchronized bool)       // does something keep the time of day right? nil: unknown
}

// ThisMachine is the one that the program runs on.
func ThisMachine() *Machine {
	return &Machine{Root: "/", Route: KernelRoute, Peer: KernelPeer, Offloads: iface.ReadOffloads, Addresses: kernelAddresses, Clock: kernelClock}
}

// checks are all that is looked at, in the order in which it is printed.
var checks = []func(h *host, c *conf.Config) []Finding{
	hugepages, memlock, transparentHugepages,
	isolation, siblings, governor, irqbalance, clocksource, synchronization, instructions,
	pciDevices, vfioFiles, numa, queues, kernelInterfaces, routed, offloads,
	collectors, replaced,
}

// Examine runs every check.
func Examine(m *Machine, c *conf.Config) (all []Finding) {
	h := &host{root: m.Root, machine: m}
	for _, check := range checks {
		all = append(all, check(h, c)...)
	}
	return all
}

// Run prints what Examine finds, or with fix only the commands, as a script. A fault is an error, so
// that scripts see it.
func Run(stdout io.Writer, m *Machine, c *conf.Config, fix bool) error {
	faults := 0
	var b strings.Builder
	for _, f := range Examine(m, c) {
		f.What, f.Fix = oneLine(f.What), oneLine(f.Fix)
		if f.Level == Fault {
			faults++
		}
		switch {
		case fix && f.Fix != "":
			fmt.Fprintf(&b, "# %s\n%s\n", f.What, f.Fix)
		case !fix:
			fmt.Fprintf(&b, "%-5s  %s\n", f.Level, f.What)
			if f.Fix != "" {
				fmt.Fprintf(&b, "       > %s\n", strings.TrimPrefix(f.Fix, comment))
			}
		}
	}
	text := b.String()
	if !fix {
		text = cli.ScreenOf(stdout).Text(text)
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return cli.Failed(err)
	}
	if faults > 0 && !fix {
		return cli.Failed(fmt.Errorf("%s: mend what says FAULT", cli.Count(faults, "fault")))
	}
	return nil
}

// comment begins a Fix that no command does: in a script of the commands it is a comment.
const comment = "# "

// byHand is the Fix that people do.
func byHand(text string) string { return comment + text }

// oneLine is the text without characters that would end a comment of the script or change a terminal: names
// in it are from the configuration and the kernel.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// quoted is a name as one word of a shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func ok(format string, args ...any) Finding { return Finding{OK, fmt.Sprintf(format, args...), ""} }

func slow(fix, format string, args ...any) Finding {
	return Finding{Slow, fmt.Sprintf(format, args...), fix}
}

func fault(fix, format string, args ...any) Finding {
	return Finding{Fault, fmt.Sprintf(format, args...), fix}
}
