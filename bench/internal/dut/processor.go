package dut

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// TSC is how often the time stamp counter of this machine counts in a nanosecond, 0 where the kernel does not tell: half of
// its BogoMIPS, which it makes of that frequency on a processor whose counter does not change its pace (constant_tsc).
func TSC() float64 {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return 0
	}
	return tscOf(string(b))
}

func tscOf(cpuinfo string) float64 {
	steady, mips := false, 0.0
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "flags":
			steady = strings.Contains(" "+strings.TrimSpace(value)+" ", " constant_tsc ")
		case "bogomips":
			mips, _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	if !steady {
		return 0
	}
	return mips / 2 / 1000
}

// caches are the directories of the caches of the first CPU.
const caches = "/sys/devices/system/cpu/cpu0/cache/index*"

// Cache is the size in bytes of the first CPU's cache of a level, for data; 0 where the kernel does not tell.
func Cache(level int) int { return cacheIn(caches, level) }

func cacheIn(pattern string, level int) int {
	dirs, _ := filepath.Glob(pattern) // the pattern is sound
	for _, dir := range dirs {
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.TrimSpace(string(b))
		}
		if read("level") != strconv.Itoa(level) || read("type") == "Instruction" {
			continue
		}
		if kib, err := strconv.Atoi(strings.TrimSuffix(read("size"), "K")); err == nil {
			return kib << 10
		}
	}
	return 0
}
