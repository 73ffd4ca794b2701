// Writes metrics of the Go runtime and the process, renamed to the form that promtool asks
// for.

package observe

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// processHelp has the help text of metrics by the prefix of their names; the first prefix that
// fits counts. The library that writes these metrics has no help texts.
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

// processEvery is how often the library is asked at most: runtime.ReadMemStats, which it calls,
// stops all goroutines, those of the workers too.
const processEvery = time.Second

// processText is the library's last output: metrics of the Go runtime and the process. Any
// goroutine may ask for it.
type processText struct {
	reading sync.Mutex // held while the library is asked, which reads files of /proc; guards at
	at      time.Time  // when that was
	text    atomic.Pointer[[]byte]
}

// write writes the text, anew where it is older than processEvery at time now. read writes what
// the library knows.
func (p *processText) write(w io.Writer, now time.Time, read func(io.Writer)) error {
	if p.text.Load() == nil {
		p.reading.Lock()
		p.renew(now, read)
	} else if p.reading.TryLock() { // else another one is at it
		p.renew(now, read)
	}
	_, err := w.Write(*p.text.Load())
	return err
}

// renew asks the library, unless the text is new enough, and lets go of p.reading.
func (p *processText) renew(now time.Time, read func(io.Writer)) {
	defer p.reading.Unlock()
	if p.text.Load() == nil || now.Sub(p.at) >= processEvery {
		var library bytes.Buffer
		read(&library)
		text := describeProcess(library.String())
		p.text.Store(&text)
		p.at = now
	}
}

// readProcess writes what the library knows of the runtime and the process.
func readProcess(w io.Writer) {
	metrics.ExposeMetadata(true)
	metrics.WriteProcessMetrics(w)
}

// describeProcess gives the library's text HELP texts, and makes what is named _total a counter.
func describeProcess(text string) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(text) {
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
	return out.Bytes()
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
