// Capture: what DPDK logs during a call becomes part of one error message.

package eal

// #include "log.h"
import "C"

import (
	"slices"
	"strings"
	"sync"
)

// capture is held while DPDK's log goes to memory: there is one log.
var capture sync.Mutex

// Capture runs f and returns the first lines that DPDK logged meanwhile, as
// " (DPDK: ...)" to be appended to an error, or "". f must not call Capture.
func Capture(f func()) string {
	capture.Lock()
	defer capture.Unlock()
	C.go_log_capture()
	f()
	C.go_log_release()
	return summary(C.GoString(C.go_log_text()))
}

// generic lines follow the one that names the cause.
var generic = []string{
	"EAL: FATAL:", // repeats the line before it
	"EAL: Invalid 'command line' arguments",
	"EAL: Driver cannot attach the device",
	"EAL: Failed to attach device on primary process",
	"EAL: Detected ",
}

const summaryLines = 3

// summary is the first telling lines of a log in one.
func summary(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		isGeneric := slices.ContainsFunc(generic, func(p string) bool { return strings.HasPrefix(line, p) })
		if line != "" && !isGeneric && !slices.Contains(lines, line) && len(lines) < summaryLines {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return " (DPDK: " + strings.Join(lines, "; ") + ")"
}
