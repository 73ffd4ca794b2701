// doctor on memory: hugepages, locked memory, transparent hugepages.

package doctor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
	pagesOf "intsink/dpdk/hugepages"
)

// hugepages looks for free huge pages on each NUMA node: without them every access to
// packets and flows may miss the TLB.
func hugepages(h *host, c *conf.Config) []Finding {
	if c.DPDK.Hugepages == conf.NoHugepages {
		return []Finding{slow(byHand(`set dpdk { hugepages = "auto" }`), "hugepages are off in the configuration: packets and flows lie on 4 KiB pages")}
	}
	var all []Finding
	for _, node := range h.names("sys/devices/system/node/node[0-9]*") {
		n, _ := h.number("sys/devices/system/node", node, "hugepages/hugepages-2048kB/free_hugepages")
		big, _ := h.number("sys/devices/system/node", node, "hugepages/hugepages-1048576kB/free_hugepages")
		all = append(all, ok("hugepages of %s: %d of 2 MiB and %d of 1 GiB free", node, n, big))
	}
	pages := pagesOf.Count(h.root) // as run does
	lack, command := pages.Lack(rules.PoolMiB(c, rules.HugePage))
	switch {
	case lack == "":
		return all
	case strings.HasPrefix(command, "sysctl"):
		command += "    # and in /etc/sysctl.d/, for the next boot"
	}
	if c.DPDK.Hugepages == conf.WithHugepages {
		return append(all, fault(command, `%s for dpdk.mbufs = %d, with hugepages = "on"`, lack, c.DPDK.Mbufs))
	}
	return append(all, slow(command, "%s for dpdk.mbufs = %d", lack, c.DPDK.Mbufs))
}

// memlock looks at how much memory the service may lock, which DMA needs; without a unit, how much this
// process may, as a sink that is started from the same shell.
func memlock(h *host, c *conf.Config) []Finding {
	if !slices.ContainsFunc(c.Ports, func(p conf.Port) bool { return p.IsPCI() }) {
		return nil
	}
	if u := unitOf(h); u != nil {
		limit := cmp.Or(u.last("LimitMEMLOCK"), "8M") // which is systemd's own
		if user := u.last("User"); user == "" || user == "root" || mayLock(limit) {
			return []Finding{ok("locked memory: enough, by the unit")}
		}
		return []Finding{fault(dropIn("memlock", "LimitMEMLOCK=infinity"), "the unit limits the memory that may be locked to %s: DMA of NICs needs more", limit)}
	}
	for _, line := range strings.Split(h.text("proc/self/limits"), "\n") {
		rest, found := strings.CutPrefix(line, "Max locked memory")
		if !found {
			continue
		}
		soft := strings.Fields(rest)[0]
		if !mayLock(soft) {
			return []Finding{fault(byHand("ulimit -l unlimited, in the shell that starts the sink; LimitMEMLOCK=infinity in a unit, --ulimit memlock=-1 of a container"), "only %s bytes of memory may be locked: DMA of NICs needs more", soft)}
		}
		return []Finding{ok("locked memory: %s", soft)}
	}
	return nil
}

// mayLock tells whether a limit, as systemd or the kernel writes it, is enough for the packets' memory.
func mayLock(limit string) bool {
	soft, _, _ := strings.Cut(limit, ":")
	digits := strings.TrimRight(soft, "KMGTPE")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return soft == "infinity" || soft == "unlimited"
	}
	return n<<(10*(strings.Index("KMGTPE", soft[len(digits):])+len(soft)-len(digits))) >= 1<<30
}

// transparentHugepages checks whether the kernel maps the flow tables in huge pages.
func transparentHugepages(h *host, _ *conf.Config) []Finding {
	mode := h.text("sys/kernel/mm/transparent_hugepage/enabled")
	if strings.Contains(mode, "[never]") {
		return []Finding{slow("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", "transparent hugepages are off: flow tables lie on 4 KiB pages where there are no others")}
	}
	return nil
}
