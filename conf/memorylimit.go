// MemoryLimit: the least memory that the control groups of this process allow it (cgroups(7)).

package conf

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

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
		// In a container the path may be the machine's, of which only the end is there: "/".
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
