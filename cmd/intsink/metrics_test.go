package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/engine"
	"intsink/exporters/udp"
	"intsink/flows"
)

// parsed is one exposition: the types of metrics and the values of series.
type parsed struct {
	kind   map[string]string
	help   map[string]string
	series map[string]float64 // name and labels as they stand
}

var (
	metricName = `[a-zA-Z_:][a-zA-Z0-9_:]*`
	label      = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
	sampleLine = regexp.MustCompile(`^(` + metricName + `)(\{` + label + `(?:, ?` + label + `)*\})? (\S+)$`)
	metaLine   = regexp.MustCompile(`^# (HELP|TYPE) (` + metricName + `)(?: (.*))?$`)
)

// parseExposition checks text against Prometheus' text format: TYPE once and
// before the samples, the samples of a metric together, no series twice.
func parseExposition(t *testing.T, text string) parsed {
	t.Helper()
	p := parsed{map[string]string{}, map[string]string{}, map[string]float64{}}
	current, closed := "", map[string]bool{}
	enter := func(line, name string) {
		if p.kind[current] == "histogram" || p.kind[current] == "summary" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, suffix); ok && base == current {
					return
				}
			}
		}
		if name == current {
			return
		}
		closed[current] = true
		if current = name; closed[name] {
			t.Errorf("%q: the samples of the metric do not stand together", line)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := metaLine.FindStringSubmatch(line); m != nil {
			enter(line, m[2])
			what := map[string]map[string]string{"HELP": p.help, "TYPE": p.kind}[m[1]]
			if _, twice := what[m[2]]; twice {
				t.Errorf("%q: a second time", line)
			}
			what[m[2]] = m[3]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is no sample", line)
			continue
		}
		enter(line, m[1])
		value, err := strconv.ParseFloat(m[3], 64)
		if _, twice := p.series[m[1]+m[2]]; err != nil || twice {
			t.Errorf("%q: a second time, or no value: %v", line, err)
		}
		if k := p.kind[current]; k != "counter" && k != "gauge" && k != "histogram" && k != "summary" {
			t.Errorf("%q: of type %q", line, k)
		}
		p.series[m[1]+m[2]] = value
	}
	return p
}

// running is an appliance in a process of its own.
type running struct {
	cmd    *exec.Cmd
	http   string
	stderr *bytes.Buffer
	ended  chan struct{}
}

// startRun runs the appliance with config, whose %s is where HTTP listens.
func startRun(t *testing.T, config string) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{http: l.Addr().String(), stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	l.Close()
	path := write(t, filepath.Join(t.TempDir(), "c.hcl"), fmt.Sprintf(config, r.http))
	r.cmd = exec.Command(os.Args[0], "run", "--config", path)
	r.cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	r.cmd.Stdout, r.cmd.Stderr = r.stderr, r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
	})
	return r
}

// get asks until there is an answer.
func (r *running) get(t *testing.T, path string) string {
	t.Helper()
	for range 1000 {
		if a, err := http.Get("http://" + r.http + path); err == nil {
			b, err := io.ReadAll(a.Body)
			a.Body.Close()
			if err == nil {
				return string(b)
			}
		}
		select {
		case <-r.ended:
			t.Fatalf("the appliance ended: %s", r.stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("no answer")
	return ""
}

// stop ends the appliance and returns its exit code.
func (r *running) stop(t *testing.T, within time.Duration) int {
	t.Helper()
	r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(within):
		t.Fatalf("SIGTERM did not end it within %v", within)
	}
	return r.cmd.ProcessState.ExitCode()
}

const small = `dpdk {
  mbufs      = 4096
  hugepages  = "off"
  idle_sleep = "1ms"
}
flows { capacity = 1024 }
http { listen = "%s" }
`

func TestMetricsOfARunningAppliance(t *testing.T) {
	r := startRun(t, small+config("udp_port = 5000")+`collector "by port" {
  address = "192.0.2.11:8555"
  port    = "host"
  source  = "192.0.2.1"
}
`)
	p := parseExposition(t, r.get(t, "/metrics"))
	for _, m := range metricList {
		if p.kind[m.name] != m.kind() || p.help[m.name] != m.help {
			t.Errorf("%s is not there, or not as it should be: %q %q", m.name, p.kind[m.name], p.help[m.name])
		}
	}
	for name := range p.series {
		if base, _, _ := strings.Cut(name, "{"); strings.HasPrefix(base, "intsink_") && p.help[base] == "" {
			t.Errorf("%s has no HELP", base)
		}
	}
	if code := r.stop(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
}

// TestMetricsAreDocumented: the list here and the table in the documents say
// the same.
func TestMetricsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(intsink_\\w+)(?:\\{[a-z,]*\\})?` \\| (.*) \\|$")
	documented := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		documented[m[1]] = strings.ReplaceAll(m[2], "`", "")
	}
	for _, m := range metricList {
		if documented[m.name] != m.help {
			t.Errorf("docs/metrics.md says of %s %q, want %q", m.name, documented[m.name], m.help)
		}
		delete(documented, m.name)
	}
	for name := range documented {
		t.Errorf("docs/metrics.md has %s, which there is not", name)
	}
}

// TestLabelsAreEscaped: whatever the configuration names things.
func TestLabelsAreEscaped(t *testing.T) {
	x := newExposition()
	x.add("intsink_flows", 7, "worker", "a\"b\\c\nd\x01ü", "other", 1)
	var b bytes.Buffer
	x.writeTo(&b)
	if p := parseExposition(t, b.String()); len(p.series) != 1 {
		t.Errorf("%s", b.String())
	}
}

// TestSentIsNeverMoreThanSealed: the exporter is ahead of what a worker has
// published.
func TestSentIsNeverMoreThanSealed(t *testing.T) {
	e := udp.New(udp.Config{})
	a := &appliance{collectorNames: []string{"primary"}, exporters: []exporter{e}}
	e.Packets.Store(10)
	sealed := func(n uint64) []engine.Counters {
		return []engine.Counters{{Collectors: []engine.CollectorCounters{{Packets: n}}}}
	}
	for published, want := range map[uint64]float64{7: 7, 10: 10, 12: 10} {
		x := newExposition()
		a.addCollectors(x, sealed(published), a.exported())
		var b bytes.Buffer
		x.writeTo(&b)
		p := parseExposition(t, b.String())
		if got := p.series[`intsink_report_packets_sent_total{collector="primary"}`]; got != want {
			t.Errorf("%d sealed: %v sent, want %v", published, got, want)
		}
	}
}

func TestHealthBeforeTheFirstPoll(t *testing.T) {
	w := engine.NewWorker(engine.WorkerConfig{Rules: &engine.Rules{}, Flows: flows.Config{Capacity: 1024, IdleTimeout: 1e9}})
	defer w.Release()
	a := &appliance{workers: []*engine.Worker{w}, clock: func() int64 { return captureStart }}
	if err := a.healthy(); err == nil || err.Error() != "worker w0 has not polled yet" {
		t.Errorf("%v", err)
	}
	w.Tick(captureStart)
	if err := a.healthy(); err != nil {
		t.Error(err)
	}
}
