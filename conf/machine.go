// machine: the computer that a configuration is checked for: its CPUs, memory and names.

package conf

import (
	"bytes"
	"context"
	"math"
	"net"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// machine is what a configuration is checked against, besides itself.
type machine struct {
	cpus      []int                          // that this process may run on, ascending
	memory    uint64                         // bytes; 0: unknown
	limit     uint64                         // of memory, by control groups; 0: none
	lookup    lookupFunc                     // nil: host names stay without an address
	known     func(host string) []netip.Addr // addresses that are not looked up again; may be nil
	elsewhere bool                           // the file may be for another machine
	files     *Names                         // names the files that may be read; nil: all may
}

// lookupFunc returns the addresses of a host name, best first.
type lookupFunc func(host string) ([]netip.Addr, error)

// lookupTimeout is how long a name may take. A collector is worth no longer
// wait at start: an address in the file needs no name server at all.
const lookupTimeout = 2 * time.Second

func thisMachine() machine {
	return machine{cpus: allowedCPUs(), memory: installedMemory(), limit: MemoryLimit(), lookup: func(host string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
		defer cancel()
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
}

// allowedCPUs are those that the kernel lets this process run on. They are read
// once, since DPDK pins threads when it starts, and a reload happens after that.
var allowedCPUs = sync.OnceValue(func() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cpus []int
	for cpu := range maxCPU + 1 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
})

// installedMemory is the memory of this machine in bytes, hugepages included; 0
// where the kernel does not say. Control groups may allow less: MemoryLimit.
var installedMemory = sync.OnceValue(func() uint64 {
	src, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return memTotal(src)
})

// memTotal is MemTotal of /proc/meminfo in bytes.
func memTotal(meminfo []byte) uint64 {
	for line := range bytes.Lines(meminfo) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemTotal:" && string(f[2]) == "kB" {
			n, _ := strconv.ParseUint(string(f[1]), 10, 53)
			return n << 10
		}
	}
	return 0
}

// MemoryLimit is what the control groups of this process allow it, in bytes; 0: no limit.
func MemoryLimit() uint64 { return memoryLimit("/") }

// memoryLimit reads the files below root. A limit of any group that this one is in counts.
func memoryLimit(root string) uint64 {
	groups, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	least := uint64(math.MaxUint64)
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(f) != 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		if f[1] == "memory" { // version 1
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if f[0] != "0" {
			continue
		}
		// In a container the path may be that of the machine, where the container sees its own group alone, as "/".
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			text, _ := os.ReadFile(path.Join(root, folder, group, file))
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				least = min(least, n)
			}
			if group == "/" {
				break
			}
		}
	}
	if least > math.MaxInt64/2 { // version 1 has such a number for none
		return 0
	}
	return least
}
