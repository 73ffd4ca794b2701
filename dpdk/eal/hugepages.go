// Decides whether EAL uses hugepages, by mode auto, on or off and by how many are free.

package eal

import (
	"fmt"

	"intsink/dpdk/hugepages"
)

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
