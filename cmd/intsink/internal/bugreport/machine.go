// Describes the machine for a bug report: kernel, processor, memory, hugepages, drivers.

package bugreport

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// machineFiles are files below the root that are copied as they are.
var machineFiles = []string{
	"proc/version", "proc/cmdline", "etc/os-release", "proc/meminfo", "proc/interrupts", "proc/buddyinfo",
	"sys/devices/system/clocksource/clocksource0/current_clocksource", "sys/devices/system/cpu/isolated", "sys/devices/system/cpu/nohz_full",
}

// machine describes the machine whose file system begins at root. It names files that are
// missing: a kernel that lacks an option lacks its file.
func machine(root string) []byte {
	var b bytes.Buffer
	section := func(name string, text []byte, err error) {
		fmt.Fprintf(&b, "== /%s\n", name)
		if err != nil {
			text = []byte(err.Error())
		}
		b.Write(bytes.TrimRight(text, "\n"))
		b.WriteString("\n\n")
	}
	for _, name := range machineFiles {
		text, err := os.ReadFile(filepath.Join(root, name))
		section(name, text, err)
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	first, _, _ := bytes.Cut(text, []byte("\n\n"))
	section("proc/cpuinfo", first, err)                                             // of the first CPU: the others are like it
	devices, _ := filepath.Glob(filepath.Join(root, "sys/bus/pci/devices/*/class")) // the pattern is sound
	var nics []string
	for _, class := range devices {
		if c, _ := os.ReadFile(class); bytes.HasPrefix(c, []byte("0x02")) { // network controllers
			driver, _ := os.Readlink(filepath.Join(filepath.Dir(class), "driver"))
			nics = append(nics, filepath.Base(filepath.Dir(class))+" "+filepath.Base(driver))
		}
	}
	section("sys/bus/pci/devices", []byte(strings.Join(nics, "\n")), nil)
	return b.Bytes()
}
