package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/internal/loopback"
)

// bed is a sink between two devices that always have packets, whose bypass switch is a file.
type bed struct {
	*running
	dir, path, text string
}

// asked is where the switch's command notes what it was asked for.
func (b *bed) asked() string { return filepath.Join(b.dir, "asked") }

// newBed prepares a sink: hook is what its bypass command does after it has noted what it was asked for, and more goes
// into its configuration.
func newBed(t *testing.T, hook, more string) *bed {
	t.Helper()
	b := &bed{dir: t.TempDir()}
	command := write(t, filepath.Join(b.dir, "switch"), "#!/bin/sh\necho $1 >> "+b.asked()+"\n"+hook+"\n")
	if err := os.Chmod(command, 0o755); err != nil {
		t.Fatal(err)
	}
	http := loopback.Address(t)
	b.text = fmt.Sprintf(small, http) + config("udp_port = 5000") + fmt.Sprintf("bypass {\n  command = [%q]\n  after   = \"1m\" # whatever else the machine does\n  timeout = \"20s\"\n}\n", command) + more
	b.path = write(t, filepath.Join(b.dir, "c.hcl"), b.text)
	b.running = &running{http: http}
	return b
}

// start runs the sink with that standard error; nil: one that is read.
func (b *bed) start(t *testing.T, stderr *os.File, environment ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "run", "--config", b.path)
	cmd.Env = append(append(os.Environ(), "INTSINK_TEST_MAIN=1"), environment...)
	http := b.http
	if stderr == nil {
		b.running = startCommand(t, cmd)
	} else {
		b.running = startSilent(t, cmd, stderr)
	}
	b.http = http
}

// startSilent is startCommand with a standard error that the test does not read.
func startSilent(t *testing.T, cmd *exec.Cmd, stderr *os.File) *running {
	t.Helper()
	r := &running{cmd: cmd, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { cmd.Wait(); close(r.ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-r.ended })
	return r
}

// passes waits until packets have passed since the call.
func (b *bed) passes(t *testing.T) {
	t.Helper()
	sum := func(p observetest.Exposition) (n float64) {
		for name, value := range p.Series {
			if strings.HasPrefix(name, "intsink_port_tx_packets_total{") {
				n += value
			}
		}
		return n
	}
	first := sum(observetest.Parse(t, b.get(t, "/metrics")))
	b.wait(t, "packets to pass", func(p observetest.Exposition) bool { return sum(p) > first })
}

// ends sends SIGTERM, and checks that the process ends in time, with that code, and that packets go around it.
func (b *bed) ends(t *testing.T, code int) {
	t.Helper()
	if got := b.stop(t, patience); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, b.stderr)
	}
	text, err := os.ReadFile(b.asked())
	if lines := strings.Fields(string(text)); err != nil || lines[len(lines)-1] != "bypass" {
		t.Errorf("the switch was asked for %q (%v), at last for something else than bypass", lines, err)
	}
}

// pipe is a pipe whose reader hangs: it is full, once fill has been called.
func pipe(t *testing.T) (reader, writer *os.File, fill func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w, func() {
		own, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), unix.O_WRONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(own)
		for block := []byte("x"); err == nil; {
			_, err = unix.Write(own, block)
		}
	}
}

// TestTheLogDecidesNothing: whatever becomes of who reads the log, packets pass, a reload comes into force, the sink stops, and
// its switch is turned; the lines that were lost are counted.
func TestTheLogDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		stderr func(t *testing.T) (stderr *os.File, fails func())
	}{
		"the reader hangs":                {func(t *testing.T) (*os.File, func()) { _, w, fill := pipe(t); return w, fill }},
		"the reader hangs from the start": {func(t *testing.T) (*os.File, func()) { _, w, fill := pipe(t); fill(); return w, func() {} }},
		"the reader ends":                 {func(t *testing.T) (*os.File, func()) { r, w, _ := pipe(t); return w, func() { r.Close() } }},
		"the disk is full": {func(t *testing.T) (*os.File, func()) {
			f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return f, func() {}
		}},
		"the journal hangs": {func(t *testing.T) (*os.File, func()) {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			f, other := os.NewFile(uintptr(fds[0]), "journal"), os.NewFile(uintptr(fds[1]), "reader")
			t.Cleanup(func() { f.Close(); other.Close() })
			return f, func() {
				for err := error(nil); err == nil; {
					err = unix.Send(fds[0], []byte("x"), unix.MSG_DONTWAIT)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "", "")
			stderr, fails := c.stderr(t)
			b.start(t, stderr)
			b.passes(t)
			waitFor(t, b.asked(), "inline\n")
			fails()
			write(t, b.path, strings.Replace(b.text, "sample = 100", "sample = 50", 1))
			b.cmd.Process.Signal(syscall.SIGHUP)
			b.wait(t, "the reload", func(p observetest.Exposition) bool { return p.Series["intsink_config_generation"] == 2 })
			b.passes(t)
			if name == "the reader ends" || name == "the disk is full" {
				b.wait(t, "lost lines to be counted", func(p observetest.Exposition) bool { return p.Series["intsink_log_lines_dropped_total"] > 0 })
			}
			began := time.Now()
			b.ends(t, 0)
			t.Logf("ended within %v", time.Since(began))
		})
	}
}

// TestFilesThatNeverEnd: a reload, over TCP and by SIGHUP, whose configuration names pipes, devices and descriptors of the process as
// its certificate is refused at once and says why; the next reload, and the stop, find nothing in their way.
func TestFilesThatNeverEnd(t *testing.T) {
	b := newBed(t, "", "")
	text, socket := addSocket(t, strings.Replace(b.text, b.http, "%s", 1))
	b.text = fmt.Sprintf(text, b.http)
	write(t, b.path, b.text)
	b.start(t, nil)
	b.passes(t)
	fifo := filepath.Join(b.dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{fifo, "/dev/zero", b.dir}
	for _, f := range files {
		if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", b.cmd.Process.Pid, f.Name())); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "/dev/null") {
			paths = append(paths, "/proc/self/fd/"+f.Name())
		}
	}
	for _, path := range paths {
		secure := fmt.Sprintf("http {\n  tls {\n    certificate = %q\n    key = %q\n  }", path, path)
		next := write(t, filepath.Join(b.dir, "next.hcl"), strings.Replace(b.text, "http {", secure, 1))
		if _, stderr, code := intsink(t, "reload", "--config", next, "--socket", socket); code != 1 || !strings.Contains(stderr, "not a regular file") {
			t.Errorf("%s: exit code %d\n%s", path, code, stderr)
		}
	}
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(b.path, 0o600); err != nil {
		t.Fatal(err)
	}
	b.cmd.Process.Signal(syscall.SIGHUP)
	if !eventually(func() bool { return strings.Contains(b.get(t, "/readyz?verbose"), "by SIGHUP: "+b.path+" is not valid") }) {
		t.Error("SIGHUP was not answered")
	}
	b.passes(t)
	b.ends(t, 0)
}
