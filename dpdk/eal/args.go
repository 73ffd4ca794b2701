// Args: composes EAL's arguments (--no-huge, --in-memory, -a, lcores) from a configuration;
// refuses those that make EAL exit.

package eal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"intsink/dpdk/hugepages"
)

// Options say what Args composes EAL's arguments from.
type Options struct {
	Hugepages string // "auto", also when empty; "on"; "off"
	MemoryMiB int    // what the pools need
	// SmallPagesMiB is what they need without hugepages, where objects that must not
	// cross a page leave more of it empty; 0: the same.
	SmallPagesMiB int
	Telemetry     bool     // the socket of DPDK's own telemetry is there
	Devices       []string // devargs of every port, PCI or vdev
	Extra         []string // appended as they are
}

// Args composes EAL's arguments. Processes started with them run side by side:
// none shares its configuration. Virtual devices are not among the arguments:
// ethdev.Attach makes them, where a fault can be told per device. A warning says
// what the user may want to change.
func Args(o Options) (args, warnings []string, err error) {
	if err := CheckExtra(o.Extra); err != nil {
		return nil, nil, err
	}
	huge, warning, err := useHugepages(o.Hugepages, o.MemoryMiB, hugepages.Count("/"))
	if err != nil {
		return nil, nil, err
	}
	if warning != "" {
		warnings = []string{warning}
	}
	// The main lcore stands on a CPU that surely exists, and never works.
	args = []string{"--lcores", fmt.Sprintf("0@%d", firstCPU()), "--log-level", "*:error"}
	if !o.Telemetry && !slices.Contains(o.Extra, "--telemetry") { // EAL lets --no-telemetry win, wherever it stands
		args = append(args, "--no-telemetry")
	}
	if huge {
		args = append(args, "--in-memory") // implies --no-shconf
	} else {
		// --in-memory excludes --no-huge (DPDK 22.11).
		args = append(args, "--no-huge", "--no-shconf", "-m", strconv.Itoa(cmp.Or(o.SmallPagesMiB, o.MemoryMiB)))
	}
	args = append(args, allowPCI(o.Devices)...)
	return append(args, o.Extra...), warnings, nil
}

// CheckExtra refuses arguments that make EAL print something and exit, with the
// process.
func CheckExtra(args []string) error {
	for i, a := range args {
		if a == "--log-level=help" || a == "--log-level" && i+1 < len(args) && args[i+1] == "help" {
			return fmt.Errorf("dpdk.eal_args: %q makes DPDK print its levels and exit: name one, such as --log-level=lib.eal:debug", a)
		}
		if asksForHelp(a) {
			return fmt.Errorf("dpdk.eal_args: %q makes DPDK print its help and exit: leave out -h and --help (dpdk-testpmd --help lists the arguments)", a)
		}
	}
	return nil
}

// asksForHelp recognises -h, also among other letters, and --help, also
// shortened, as getopt_long does.
func asksForHelp(a string) bool {
	if long, ok := strings.CutPrefix(a, "--"); ok {
		return len(long) > 1 && strings.HasPrefix("help", long)
	}
	letters, ok := strings.CutPrefix(a, "-")
	if !ok {
		return false
	}
	const withValue = "abcdlmnrsS"
	before, _, found := strings.Cut(letters, "h")
	return found && !strings.ContainsAny(before, withValue)
}

// allowPCI lets EAL touch the PCI devices that are asked for, and no other.
func allowPCI(devices []string) (args []string) {
	for _, d := range devices {
		if name, _, _ := strings.Cut(d, ","); strings.Contains(name, ":") { // 0000:3b:00.0; no vdev has a colon
			args = append(args, "-a", d)
		}
	}
	if args == nil {
		return []string{"--no-pci"}
	}
	return args
}

// firstCPU is the lowest CPU that this process may use.
func firstCPU() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 0
	}
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	return 0
}
