package eal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Options say what Args composes EAL's arguments from.
type Options struct {
	Hugepages string   // "auto" | "on" | "off"
	MemoryMiB int      // what the pools need
	Devices   []string // devargs of every port
	Extra     []string // appended as they are
}

// Args composes EAL's arguments. Several processes can run side by side: none
// shares configuration. A warning says what the user may want to change.
func Args(o Options) (args, warnings []string, err error) {
	huge, warning, err := useHugepages(o.Hugepages, o.MemoryMiB)
	if err != nil {
		return nil, nil, err
	}
	if warning != "" {
		warnings = append(warnings, warning)
	}
	args = []string{"--lcores", fmt.Sprintf("0@%d", firstCPU()), "--no-telemetry", "--log-level", "*:error"}
	if huge {
		args = append(args, "--in-memory")
	} else {
		args = append(args, "--no-huge", "--no-shconf", "-m", strconv.Itoa(o.MemoryMiB))
	}
	pci := 0
	for _, d := range o.Devices {
		if name, _, _ := strings.Cut(d, ","); strings.Contains(name, ":") {
			args = append(args, "-a", d)
			pci++
		}
	}
	if pci == 0 {
		args = append(args, "--no-pci")
	}
	return append(args, o.Extra...), warnings, nil
}

// useHugepages decides by mode and by how much hugepage memory is free.
func useHugepages(mode string, needMiB int) (use bool, warning string, err error) {
	if mode == "off" {
		return false, "", nil
	}
	free := FreeHugepagesMiB("/sys/kernel/mm/hugepages")
	if free >= needMiB {
		return true, "", nil
	}
	howto := fmt.Sprintf("reserve them with: sysctl -w vm.nr_hugepages=%d", (needMiB+1)/2+64)
	if mode == "on" {
		return false, "", fmt.Errorf(`dpdk.hugepages = "on", but %d MiB of hugepages are free and about %d MiB are needed; %s`, free, needMiB, howto)
	}
	return false, fmt.Sprintf("%d MiB of hugepages are free and about %d MiB are needed: running without hugepages, which is slower; %s", free, needMiB, howto), nil
}

// FreeHugepagesMiB sums the free hugepages of all sizes below dir
// (/sys/kernel/mm/hugepages).
func FreeHugepagesMiB(dir string) int {
	total := 0
	sizes, _ := filepath.Glob(filepath.Join(dir, "hugepages-*kB"))
	for _, d := range sizes {
		kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(d), "hugepages-"), "kB"))
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join(d, "free_hugepages"))
		if err != nil {
			continue
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		total += n * kb / 1024
	}
	return total
}

// firstCPU is the lowest CPU this process may use: EAL's main lcore stands
// there and never works.
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
