package dut

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Events are the processor's counters that are read, by their names in perf.
var Events = []string{"instructions:u", "cycles:u", "cache-misses", "dTLB-load-misses"}

// Counts holds the counts of Events by name. Events that the machine does not count are missing.
type Counts map[string]float64

// CountEvents counts for d in one thread, with `perf stat`. A machine without
// hardware counters, as most virtual ones are, gives no counts at once, and so
// does one without perf.
func CountEvents(tid int, d time.Duration) Counts {
	cmd := exec.Command("perf", "stat", "-x,", "-e", strings.Join(Events, ","), "-t", strconv.Itoa(tid), "sleep", fmt.Sprintf("%.3f", d.Seconds()))
	var out bytes.Buffer
	cmd.Stderr = &out
	if cmd.Run() != nil {
		return nil
	}
	return parsePerf(out.String())
}

// CanCount reports whether this machine counts instructions.
func CanCount() bool {
	cmd := exec.Command("perf", "stat", "-x,", "-e", Events[0], "true")
	var out bytes.Buffer
	cmd.Stderr = &out
	return cmd.Run() == nil && parsePerf(out.String())[Events[0]] > 0
}

// parsePerf reads lines of VALUE,UNIT,EVENT,RUNTIME,PERCENTAGE,...; the value is
// <not supported> or <not counted> where there is none.
func parsePerf(s string) Counts {
	counts := Counts{}
	for line := range strings.Lines(s) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) < 3 {
			continue
		}
		if n, err := strconv.ParseFloat(fields[0], 64); err == nil {
			counts[fields[2]] = n
		}
	}
	return counts
}
