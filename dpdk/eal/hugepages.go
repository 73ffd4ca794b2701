// Finds free hugepages and a mounted hugetlbfs; decides whether to use them by mode auto,
// on or off.

package eal

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	sysHugepages = "/sys/kernel/mm/hugepages"
	procMounts   = "/proc/mounts"
)

// Hugepages counts the free pages of 2 MiB and of 1 GiB, and tells whether a
// hugetlbfs is mounted. EAL as Args starts it needs no mount: it maps hugepages
// anonymously.
func Hugepages() (free2M, free1G int, mounted bool) {
	mounts, err := os.ReadFile(procMounts)
	return freePages(sysHugepages, 2048), freePages(sysHugepages, 1<<20), err == nil && hugetlbfsIn(string(mounts))
}

// hugetlbfsIn looks for the file system's type, the third field of each line.
func hugetlbfsIn(mounts string) bool {
	for s := bufio.NewScanner(strings.NewReader(mounts)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) > 2 && f[2] == "hugetlbfs" {
			return true
		}
	}
	return false
}

// freePages reads how many pages of kb KiB are free and not promised to anyone.
func freePages(dir string, kb int) int {
	read := func(name string) int {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("hugepages-%dkB", kb), name))
		if err != nil {
			return 0
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return n
	}
	return max(0, read("free_hugepages")-read("resv_hugepages"))
}

// freeHugepagesMiB sums the free hugepages of all sizes below dir.
func freeHugepagesMiB(dir string) int {
	total := 0
	sizes, _ := filepath.Glob(filepath.Join(dir, "hugepages-*kB")) // the pattern is sound
	for _, d := range sizes {
		if kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(d), "hugepages-"), "kB")); err == nil {
			total += freePages(dir, kb) * kb / 1024
		}
	}
	return total
}

// useHugepages decides by mode, and by how much hugepage memory is free.
func useHugepages(mode string, needMiB, freeMiB int) (use bool, warning string, err error) {
	if mode == "off" {
		return false, "", nil
	}
	if mode != "on" && mode != "auto" && mode != "" {
		return false, "", fmt.Errorf(`dpdk.hugepages = %q: use "auto", "on" or "off"`, mode)
	}
	if freeMiB >= needMiB {
		return true, "", nil
	}
	const pageMiB, sparePages = 2, 64 // EAL rounds each of its areas up to a page
	lack := fmt.Sprintf("%d MiB of hugepages are free and about %d MiB are needed", freeMiB, needMiB)
	howto := fmt.Sprintf("reserve them with: sysctl -w vm.nr_hugepages=%d", (needMiB+pageMiB-1)/pageMiB+sparePages)
	if mode == "on" {
		return false, "", fmt.Errorf(`dpdk.hugepages = "on", but %s; %s`, lack, howto)
	}
	return false, fmt.Sprintf("%s: running without hugepages, which is slower; %s", lack, howto), nil
}
