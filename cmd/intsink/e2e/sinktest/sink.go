package sinktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/cmd/intsink/internal/status"
	"intsink/internal/loopback"
)

// Adopted waits until the only worker works by what it was told before the call: a command waits for it no longer
// than workers usually take.
func (r *Sink) Adopted(t *testing.T) {
	t.Helper()
	polls := func(p observetest.Exposition) float64 { return sumOf(p, `intsink_worker_polls_total{worker="w0"`) }
	for range 2 { // what is published first may have been counted before
		before := polls(observetest.Parse(t, r.Get(t, "/metrics")))
		r.Wait(t, "a poll", func(p observetest.Exposition) bool { return polls(p) > before })
	}
}

// Sink is an appliance in a process of its own.
type Sink struct {
	Cmd    *exec.Cmd
	HTTP   string
	Stderr *bytes.Buffer
	Ended  chan struct{}
}

// Patience is how long tests wait for what has to come. It ends most waits early; beside other work
// that has the CPUs first, the sink and the test may get none for a minute.
const Patience = 3 * time.Minute

// Eventually asks every few milliseconds until ok returns true, and reports whether it did in time.
func Eventually(ok func() bool) bool {
	for end := time.Now().Add(Patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Start runs the appliance with config, whose %s is where HTTP listens.
func Start(t *testing.T, config string) *Sink { return StartWith(t, config) }

// StartWith is Start with more flags.
func StartWith(t *testing.T, config string, flags ...string) *Sink {
	t.Helper()
	http := loopback.Address(t)
	r := StartOf(t, Write(t, filepath.Join(t.TempDir(), "c.hcl"), fmt.Sprintf(config, http)), flags...)
	r.HTTP = http
	return r
}

// StartOf starts the appliance with the configuration at path.
func StartOf(t *testing.T, path string, flags ...string) *Sink {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(append([]string{"run"}, flags...), "--config", path)...)
	cmd.Env = append(os.Environ(), "INTSINK_TEST_MAIN=1")
	return StartCommand(t, cmd)
}

// StartCommand starts the appliance by cmd.
func StartCommand(t *testing.T, cmd *exec.Cmd) *Sink {
	t.Helper()
	r := &Sink{Cmd: cmd, Stderr: &bytes.Buffer{}, Ended: make(chan struct{})}
	r.Cmd.Stdout, r.Cmd.Stderr = r.Stderr, r.Stderr
	if err := r.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		untilExit(r.Cmd.Process.Pid)
		r.Cmd.Wait()
		close(r.Ended)
	}()
	t.Cleanup(func() {
		r.Cmd.Process.Kill()
		<-r.Ended
	})
	return r
}

// untilExit waits until a process has ended. Unlike waitid(2), which Wait calls, it does not see
// that StopThread has stopped the process's first thread: only one of the two would learn of it.
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

// Get asks until there is an answer.
// It is an answer made for this request: others may get one of up to 100 ms before.
func (r *Sink) Get(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		if a, err := http.Get("http://" + r.HTTP + path + unshared(path)); err == nil {
			b, err := io.ReadAll(a.Body)
			a.Body.Close()
			if err == nil {
				return string(b)
			}
		}
		select {
		case <-r.Ended:
			t.Fatalf("the appliance ended: %s", r.Stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("no answer")
	return ""
}

// Stop ends the appliance and returns its exit code.
func (r *Sink) Stop(t *testing.T, within time.Duration) int {
	t.Helper()
	r.Cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.Ended:
	case <-time.After(within):
		t.Fatalf("SIGTERM did not end it within %v", within)
	}
	return r.Cmd.ProcessState.ExitCode()
}

// Small is a small sink, whose %s is where HTTP listens.
const Small = `dpdk {
  mbufs      = 4096
  hugepages  = "off"
  idle_sleep = "1ms"
}
flows { capacity = 1024 }
http { listen = "%s" }
`

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

// Wait asks for the metrics until cond holds of them.
func (r *Sink) Wait(t *testing.T, what string, cond func(p observetest.Exposition) bool) observetest.Exposition {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		if p := observetest.Parse(t, r.Get(t, "/metrics")); cond(p) {
			return p
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("not seen: %s\n%s\n%s", what, r.Get(t, "/metrics"), r.Stderr)
	return observetest.Exposition{}
}

// Told is the history of the link, and of hops where their packets are samples, as the sink tells it, by seconds.
func (r *Sink) Told(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, what := range []string{"links", "hops"} {
		var a struct {
			Begin time.Time
			Items []struct {
				Direction string
				Node      uint32
				Packets   []*int64
				LatencyNs struct{ P99 []*int64 } `json:"latency_ns"`
			}
		}
		text := r.Get(t, "/api/v1/history/"+what+"?since=10m&step=1s")
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, x := range a.Items {
			for i, n := range append(x.Packets, x.LatencyNs.P99...) {
				if n != nil {
					all[fmt.Sprintf("%d %s %s%d", a.Begin.Unix()+int64(i), what, x.Direction, x.Node)] = *n
				}
			}
		}
	}
	return all
}

// Unhealthy waits until /healthz says that a worker does not poll.
func (r *Sink) Unhealthy(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); {
		a, err := http.Get("http://" + r.HTTP + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode == http.StatusServiceUnavailable {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("/healthz is 200 while a worker is stuck")
}

// sumOf adds up all series that begin so.
func sumOf(p observetest.Exposition, prefix string) (sum float64) {
	for name, v := range p.Series {
		if strings.HasPrefix(name, prefix) {
			sum += v
		}
	}
	return sum
}

// Settled waits until the configuration in force is on no trial.
func (r *Sink) Settled(t *testing.T) observetest.Exposition {
	t.Helper()
	return r.Wait(t, "the end of the trial", func(p observetest.Exposition) bool { return p.Series["intsink_config_trial"] == 0 })
}

// TrialInTime puts the configuration at trial on trial for some seconds, in which status, metrics
// and readiness show it, and waits until it is over. It returns false if the worker, or the test, got no CPU for
// so long beside other work that the trial ended before it was looked at.
func (r *Sink) TrialInTime(t *testing.T, socket, path, trial string) bool {
	t.Helper()
	start := time.Now()
	out := Must(t, "reload", "--socket", socket, "--config", trial, "--confirm", "6s")
	var s status.Status
	err := json.Unmarshal([]byte(r.Get(t, "/api/v1/status")), &s)
	during, verbose := observetest.Parse(t, r.Get(t, "/metrics")), r.Get(t, "/readyz?verbose")
	_, stderr, code := Run(t, "reload", "--socket", socket)
	late := time.Since(start) > 6*time.Second // it may have been over
	p := r.Settled(t)
	if late || strings.Contains(r.Get(t, "/readyz?verbose"), "has not polled for") {
		return false
	}
	for _, want := range []string{"generation 2 is in force: 1 change\n  watch \"all\".sample: 100 -> 50\non trial: generation 1's configuration comes back at ", "note: a restart, and a reload without --config, read " + path} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	if err != nil || s.Config.Trial == nil || s.Config.Trial.BackTo != 1 || s.Config.Path != trial {
		t.Errorf("%+v %v", s.Config, err)
	}
	if during.Series["intsink_config_trial"] != 1 || during.Series["intsink_config_generation"] != 2 {
		t.Error("the metrics tell of no trial")
	}
	if !strings.Contains(verbose, "trial: generation 1 comes back at ") {
		t.Errorf("%s", verbose)
	}
	if code != 1 || !strings.Contains(stderr, "is on trial until") {
		t.Errorf("a reload meanwhile: exit code %d, %s", code, stderr)
	}
	if config := r.Get(t, "/api/v1/config"); !strings.Contains(strings.Join(strings.Fields(config), " "), "sample = 100 ") || p.Series["intsink_config_generation"] != 3 || p.Series[`intsink_config_trials_total{result="timeout"}`] != 1 {
		t.Errorf("generation %v\n%s", p.Series["intsink_config_generation"], config)
	}
	return true
}
