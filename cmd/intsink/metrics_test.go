package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/internal/observe"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/loopback"
)

// running is an appliance in a process of its own.
type running struct {
	cmd    *exec.Cmd
	http   string
	stderr *bytes.Buffer
	ended  chan struct{}
}

// patience is how long tests wait for what has to come. It ends most waits early; beside other work
// that has the CPUs first, the sink and the test may get none for a minute.
const patience = 3 * time.Minute

// eventually asks every few milliseconds until ok returns true, and reports whether it did in time.
func eventually(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// startRun runs the appliance with config, whose %s is where HTTP listens.
func startRun(t *testing.T, config string) *running { return startRunWith(t, config) }

// startRunWith is startRun with more flags.
func startRunWith(t *testing.T, config string, flags ...string) *running {
	t.Helper()
	http := loopback.Address(t)
	r := startRunOf(t, write(t, filepath.Join(t.TempDir(), "c.hcl"), fmt.Sprintf(config, http)), flags...)
	r.http = http
	return r
}

// startRunOf starts the appliance with the configuration at path.
func startRunOf(t *testing.T, path string, flags ...string) *running {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(append([]string{"run"}, flags...), "--config", path)...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	return startCommand(t, cmd)
}

// startCommand starts the appliance by cmd.
func startCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.stderr, r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		untilExit(r.cmd.Process.Pid)
		r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
	})
	return r
}

// untilExit waits until a process has ended. Unlike waitid(2), which Wait calls, it does not see
// that stopThread has stopped the process's first thread: only one of the two would learn of it.
func untilExit(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for err = unix.EINTR; err == unix.EINTR; {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
	}
}

// get asks until there is an answer.
// It is an answer made for this request: others may get one of up to 100 ms before.
func (r *running) get(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if a, err := http.Get("http://" + r.http + path + unshared(path)); err == nil {
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

// histogramPart ends the names of a histogram's series.
var histogramPart = regexp.MustCompile(`_(bucket|sum|count)$`)

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
	text := r.get(t, "/metrics")
	p := observetest.Parse(t, text)
	lint := exec.Command("promtool", "check", "metrics")
	lint.Stdin = strings.NewReader(text)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	for _, m := range observe.Metrics {
		if otherSinks.MatchString(m.Name) && p.Kind[m.Name] == "" {
			continue
		}
		if p.Kind[m.Name] != m.Kind() || p.Help[m.Name] != m.Help {
			t.Errorf("%s is not there, or not as it should be: %q %q", m.Name, p.Kind[m.Name], p.Help[m.Name])
		}
	}
	for name := range p.Series {
		if base, _, _ := strings.Cut(name, "{"); strings.HasPrefix(base, "intsink_") && p.Help[base] == "" && p.Help[histogramPart.ReplaceAllString(base, "")] == "" {
			t.Errorf("%s has no HELP", base)
		}
	}
	if code := r.stop(t, patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
}

var requests atomic.Uint64

// unshared is a parameter that makes a request for metrics or health another one than all before.
func unshared(path string) string {
	switch path {
	case "/metrics":
		return fmt.Sprintf("?asked=%d", requests.Add(1))
	case "/readyz?verbose":
		return fmt.Sprintf("&asked=%d", requests.Add(1))
	}
	return ""
}
