//go:build engines

package faults

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"intsink/internal/loopback"
)

// collector runs `intsink-collect` as a process.
type collector struct {
	t       testing.TB
	program string
	dir     string // folder of its configuration
	spool   string
	address string // address that it receives reports on
	http    string
	cmd     *exec.Cmd
	pid     atomic.Int64
	base    int64 // datagrams that were sent before this process began
	log     *os.File
}

// newCollector builds the program and writes its configuration with these outputs. The spool is
// on a disk of its own, so that a test can fill it.
func newCollector(t testing.TB, outputs string) *collector {
	t.Helper()
	dir := t.TempDir()
	c := &collector{t: t, dir: dir, spool: filepath.Join(dir, "disk", "spool"), program: filepath.Join(dir, "intsink-collect"), address: loopback.Address(t), http: loopback.Address(t)}
	build := exec.Command("go", "build", "-o", c.program, "intsink/cmd/intsink-collect")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1500m"); err != nil {
		t.Fatalf("%v: this test mounts a tmpfs and needs root", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	text := fmt.Sprintf(`
listen "reports" {
  address        = %q
  receive_buffer = "64MiB"
  allow          = ["127.0.0.0/26"]
  streams        = 64
}
spool {
  directory = %q
  size      = "1400MiB"
  mode      = "always"
}
http { listen = %q }
%s`, c.address, c.spool, c.http, outputs)
	if err := os.WriteFile(filepath.Join(dir, "collect.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if c.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.log.Close()
		if c.cmd != nil {
			c.cmd.Process.Kill()
			c.cmd.Wait()
		}
	})
	return c
}

// start starts the process and waits until it answers. sent is how many datagrams were sent before.
func (c *collector) start(sent int64) {
	c.t.Helper()
	c.base = sent
	c.cmd = exec.Command(c.program, "collect", "--config", filepath.Join(c.dir, "collect.hcl"))
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.pid.Store(int64(c.cmd.Process.Pid))
	for end := time.Now().Add(time.Minute); c.metrics() == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.fatal("the collector does not answer")
		}
	}
}

// end sends a signal to the process and waits for its end.
func (c *collector) end(s syscall.Signal) error {
	c.cmd.Process.Signal(s)
	return c.cmd.Wait()
}

// metrics returns the series of /metrics, nil if there is no answer.
func (c *collector) metrics() map[string]float64 {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + c.http + "/metrics")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		if at := strings.LastIndexByte(line, ' '); line[0] != '#' && at > 0 {
			v, _ := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64)
			all[strings.TrimPrefix(line[:at], "intcollect_")] = v
		}
	}
	return all
}

var outputNames = []string{"kafka main", "clickhouse http"}

func of(metric, output string) string { return fmt.Sprintf("%s{output=%q}", metric, output) }

// sum adds up the series of a metric that have those labels.
func sum(m map[string]float64, metric, labels string) (n float64) {
	for name, v := range m {
		if strings.HasPrefix(name, metric+"{") && strings.Contains(name, labels) {
			n += v
		}
	}
	return n
}

// look reads the metrics, and fails the test unless the accounts in them add up.
func (c *collector) look() map[string]float64 {
	c.t.Helper()
	m := c.metrics()
	if m == nil {
		c.fatal("the collector does not answer")
	}
	for _, o := range outputNames {
		in := m[of("output_records_total", o)] + m[of("output_restored_records_total", o)]
		out := m[of("output_delivered_records_total", o)] + m[of("output_queued_records", o)] + m[of("output_spooled_records", o)] +
			sum(m, "output_dropped_records_total", fmt.Sprintf("output=%q", o))
		if in != out {
			c.fatal(fmt.Sprintf("%s: %.0f records in, %.0f out", o, in, out))
		}
	}
	if in, out := sum(m, "datagrams_total", ""), sum(m, "report_packets_total", "")+sum(m, "refused_datagrams_total", ""); in != out {
		c.fatal(fmt.Sprintf("%.0f datagrams in, %.0f out", in, out))
	}
	return m
}

// taken returns how many of the datagrams sent since the start of the test were counted.
func (c *collector) taken(m map[string]float64) int64 {
	return c.base + int64(m[`datagrams_total{listen="reports"}`])
}

// overflows returns how many datagrams the sockets had no room for.
func overflows(m map[string]float64) int64 {
	return int64(m[`socket_overflow_datagrams_total{listen="reports"}`])
}

// rss returns the anonymous memory of the process in MiB: that without a file behind it.
func (c *collector) rss() int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid.Load()))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb >> 10
		}
	}
	return 0
}

// tearTail appends half an entry to the newest segment of the spool, as a power failure in the
// middle of a write does.
func (c *collector) tearTail() {
	c.t.Helper()
	all, err := filepath.Glob(filepath.Join(c.spool, "spool-*.pcap"))
	if err != nil || len(all) == 0 {
		c.fatal("the spool has no segment")
	}
	f, err := os.OpenFile(all[len(all)-1], os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	half := make([]byte, 300)
	if _, err := f.ReadAt(half, 24); err != nil {
		c.t.Fatal(err)
	}
	if _, err := f.Write(half); err != nil {
		c.t.Fatal(err)
	}
}

// fillDisk fills the spool's disk until the function that it returns is called.
func (c *collector) fillDisk() (free func()) {
	c.t.Helper()
	path := filepath.Join(c.dir, "disk", "filler")
	f, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 1<<20); len(b) > 0; {
		if _, err := f.Write(b); err != nil {
			b = b[:len(b)/2]
		}
	}
	return func() { os.Remove(path) }
}

// fatal ends the test with the output of the collector.
func (c *collector) fatal(why string) {
	c.t.Helper()
	b, _ := os.ReadFile(c.log.Name())
	c.t.Fatalf("%s\n%s", why, b[max(0, len(b)-6000):])
}
