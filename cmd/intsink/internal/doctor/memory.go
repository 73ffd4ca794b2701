// doctor on memory: hugepages, NUMA nodes.

package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"intsink/conf"
)

// hugepages looks for free huge pages on each NUMA node: without them every access to
// packets and flows may miss the TLB.
func hugepages(h *host, c *conf.Config) []Finding {
	if c.DPDK.Hugepages == conf.NoHugepages {
		return []Finding{slow(byHand(`set dpdk { hugepages = "auto" }`), "hugepages are off in the configuration: packets and flows lie on 4 KiB pages")}
	}
	const page = 2 << 20
	need := (c.DPDK.Mbufs*c.DPDK.MbufBytes()+page-1)/page + 16
	var all []Finding
	free := 0
	for _, node := range h.names("sys/devices/system/node/node[0-9]*") {
		n, _ := h.number("sys/devices/system/node", node, "hugepages/hugepages-2048kB/free_hugepages")
		big, _ := h.number("sys/devices/system/node", node, "hugepages/hugepages-1048576kB/free_hugepages")
		free += n + 512*big
		all = append(all, ok("hugepages of %s: %d of 2 MiB and %d of 1 GiB free", node, n, big))
	}
	if free >= need {
		return all
	}
	fix := fmt.Sprintf("sysctl -w vm.nr_hugepages=%d    # and in /etc/sysctl.d/, for the next boot", need)
	text := fmt.Sprintf("about %d hugepages of 2 MiB are needed for dpdk.mbufs = %d, and %d are free", need, c.DPDK.Mbufs, free)
	if c.DPDK.Hugepages == conf.WithHugepages {
		return append(all, fault(fix, `%s, with hugepages = "on"`, text))
	}
	return append(all, slow(fix, "%s", text))
}

// memlock looks at how much memory a process may lock, which DMA needs.
func memlock(h *host, c *conf.Config) []Finding {
	if !slices.ContainsFunc(c.Ports, func(p conf.Port) bool { return p.IsPCI() }) {
		return nil
	}
	for _, line := range strings.Split(h.text("proc/self/limits"), "\n") {
		rest, found := strings.CutPrefix(line, "Max locked memory")
		if !found {
			continue
		}
		soft := strings.Fields(rest)[0]
		n, err := strconv.ParseInt(soft, 10, 64)
		if err == nil && n < 1<<30 {
			return []Finding{fault("ulimit -l unlimited    # LimitMEMLOCK=infinity in the unit, --ulimit memlock=-1 of a container", "only %s bytes of memory may be locked: DMA of NICs needs more", soft)}
		}
		return []Finding{ok("locked memory: %s", soft)}
	}
	return nil
}

// transparentHugepages checks whether the kernel maps the flow tables in huge pages.
func transparentHugepages(h *host, _ *conf.Config) []Finding {
	mode := h.text("sys/kernel/mm/transparent_hugepage/enabled")
	if strings.Contains(mode, "[never]") {
		return []Finding{slow("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", "transparent hugepages are off: flow tables lie on 4 KiB pages where there are no others")}
	}
	return nil
}
