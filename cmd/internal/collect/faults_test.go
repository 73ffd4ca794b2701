package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pipe is a pipe that nobody reads; fill makes it full.
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

// TestTheLogDecidesNothing: whether who reads the log has ended, hangs, or has no room: reports are received, a reload comes into
// force, and the collector stops.
func TestTheLogDecidesNothing(t *testing.T) {
	for name, stderr := range map[string]func(t *testing.T) (stderr *os.File, fails func()){
		"the reader hangs": func(t *testing.T) (*os.File, func()) { _, w, fill := pipe(t); return w, fill },
		"the reader ends":  func(t *testing.T) (*os.File, func()) { r, w, _ := pipe(t); return w, func() { r.Close() } },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f, fails := stderr(t)
			config := configure(t, dir, "file \"out\" { path = \"out.jsonl\" }\n")
			p := launchWith(t, config, func(cmd *exec.Cmd) { cmd.Stderr = f })
			p.send(0, 5)
			fails()
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			write(t, config, strings.Replace(string(text), "out.jsonl", "next.jsonl", 1))
			p.cmd.Process.Signal(syscall.SIGHUP)
			p.wait("the reload", func() bool { return p.metric(`intcollect_config_reloads_total{result="adopted"}`) == 1 })
			p.send(5, 10)
			if name == "the reader ends" {
				p.wait("lost lines to be counted", func() bool { return p.metric("intcollect_log_lines_dropped_total") > 0 })
			}
			if code := p.end(syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if n := len(ids(t, filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "next.jsonl"))); n != 20 {
				t.Errorf("%d reports in the files, want 20", n)
			}
		})
	}
}
