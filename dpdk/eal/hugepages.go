// Finds free hugepages and a mounted hugetlbfs; decides whether to use them by mode auto,
// on or off.

package eal

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"intsink/dpdk/hugepages"
)

// Hugepages counts the free pages of 2 MiB and of 1 GiB, and tells whether a
// hugetlbfs is mounted. EAL as Args starts it needs no mount: it maps hugepages
// anonymously.
func Hugepages() (free2M, free1G int, mounted bool) {
	mounts, err := os.ReadFile("/proc/mounts")
	return hugepages.Free("/", 2048), hugepages.Free("/", 1<<20), err == nil && hugetlbfsIn(string(mounts))
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

// useHugepages decides by mode, and by how much hugepage memory is free.
func useHugepages(mode string, needMiB int, pages hugepages.Pages) (use bool, warning string, err error) {
	if mode == "off" {
		return false, "", nil
	}
	if mode != "on" && mode != "auto" && mode != "" {
		return false, "", fmt.Errorf(`dpdk.hugepages = %q: use "auto", "on" or "off"`, mode)
	}
	lack, command := pages.Lack(needMiB)
	switch {
	case lack == "":
		return true, "", nil
	case mode == "on":
		return false, "", fmt.Errorf(`dpdk.hugepages = "on", but %s; reserve them with: %s`, lack, command)
	}
	return false, fmt.Sprintf("%s: running without hugepages, which is slower; reserve them with: %s", lack, command), nil
}
