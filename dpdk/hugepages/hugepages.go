// Package hugepages counts the hugepages of a machine, and says how many to reserve where too few are free.
package hugepages

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Pages are those of a machine.
type Pages struct {
	FreeMiB int // of all sizes, not promised to anyone
	Total2M int // pages of 2 MiB, free or not

	other bool // the kernel's own size, which vm.nr_hugepages counts, is not 2 MiB
}

// Count reads sysfs below root.
func Count(root string) Pages {
	var p Pages
	dir := filepath.Join(root, "sys/kernel/mm/hugepages")
	sizes, _ := filepath.Glob(filepath.Join(dir, "hugepages-*kB")) // the pattern is sound
	for _, d := range sizes {
		if kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(d), "hugepages-"), "kB")); err == nil {
			p.FreeMiB += Free(root, kb) * kb / 1024
		}
	}
	p.Total2M = read(dir, 2048, "nr_hugepages")
	meminfo, _ := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	_, own, found := strings.Cut(string(meminfo), "\nHugepagesize:")
	p.other = found && !strings.HasPrefix(strings.TrimSpace(own), "2048 kB")
	return p
}

// Free is how many pages of kb KiB are free and not promised to anyone.
func Free(root string, kb int) int {
	dir := filepath.Join(root, "sys/kernel/mm/hugepages")
	return max(0, read(dir, kb, "free_hugepages")-read(dir, kb, "resv_hugepages"))
}

func read(dir string, kb int, name string) int {
	b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("hugepages-%dkB", kb), name))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// spare pages of 2 MiB: EAL rounds each of its areas up to a page.
const spare = 64

// Lack says what is missing to needMiB, and the command that reserves it; both are empty where nothing is.
func (p *Pages) Lack(needMiB int) (lack, command string) {
	if p.FreeMiB >= needMiB {
		return "", ""
	}
	pages := p.Total2M + (needMiB-p.FreeMiB+1)/2 + spare
	command = fmt.Sprintf("sysctl -w vm.nr_hugepages=%d", pages)
	if p.other {
		command = fmt.Sprintf("echo %d > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", pages)
	}
	return fmt.Sprintf("%d MiB of hugepages are free and about %d MiB are needed", p.FreeMiB, needMiB), command
}
