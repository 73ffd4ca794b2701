// Writes metrics of the Go runtime and the process, renamed to the form that promtool asks
// for.

package observe

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// processHelp says what metrics are whose names begin so; the first that fits counts. The
// library that writes them says nothing.
var processHelp = []struct{ prefix, help string }{
	{"go_memstats_", "memory of the Go runtime, see runtime.MemStats"},
	{"go_gc_", "Go's garbage collector, see runtime/metrics"},
	{"go_sched_", "Go's scheduler, see runtime/metrics"},
	{"go_", "the Go runtime, see runtime/metrics"},
	{"process_cpu_", "CPU time of the process"},
	{"process_io_", "what the process read and wrote, see /proc/self/io"},
	{"process_resident_memory_", "memory of the process that is in RAM"},
	{"process_virtual_memory_", "addresses of the process"},
	{"process_", "the process"},
}

// renamed are metrics of the library whose names promtool takes for those of another type.
var renamed = map[string]string{
	"go_cgo_calls_count": "go_cgo_calls_total", "go_gc_forced_count": "go_gc_forced_total", "go_cpu_count": "go_cpus",
}

// writeProcess writes what the library knows of the runtime and the process: with a HELP
// text, and what is named _total as a counter.
func writeProcess(w io.Writer) error {
	metrics.ExposeMetadata(true)
	var text bytes.Buffer
	metrics.WriteProcessMetrics(&text)
	var out bytes.Buffer
	for line := range strings.Lines(text.String()) {
		fields := strings.Fields(line)
		switch {
		case len(fields) >= 3 && fields[1] == "HELP":
			name := renameProcess(fields[2])
			fmt.Fprintf(&out, "# HELP %s %s\n", name, helpOfProcess(name))
		case len(fields) >= 4 && fields[1] == "TYPE":
			name, kind := renameProcess(fields[2]), fields[3]
			if strings.HasSuffix(name, "_total") {
				kind = "counter"
			}
			fmt.Fprintf(&out, "# TYPE %s %s\n", name, kind)
		case len(fields) > 0:
			out.WriteString(renameProcess(fields[0]) + strings.TrimPrefix(line, fields[0]))
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func renameProcess(name string) string {
	if other := renamed[name]; other != "" {
		return other
	}
	return name
}

func helpOfProcess(name string) string {
	for _, h := range processHelp {
		if strings.HasPrefix(name, h.prefix) {
			return h.help
		}
	}
	return name
}
