package control_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"intsink/cmd/intsink/e2e/sinktest"
)

// systemd is its end of the socket that the services of a test tell what they do.
type systemd struct{ c *net.UnixConn }

func newSystemd(t *testing.T) *systemd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return &systemd{c}
}

// hears waits for a line that begins with want, and tells whether one came within the time.
func (s *systemd) hears(want string, within time.Duration) bool {
	b := make([]byte, 4096)
	s.c.SetReadDeadline(time.Now().Add(within))
	for {
		n, err := s.c.Read(b)
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(b[:n])) {
			if strings.HasPrefix(line, want) {
				return true
			}
		}
	}
}

// must is hears, and ends the test where the line does not come.
func (s *systemd) must(t *testing.T, want string) {
	t.Helper()
	if !s.hears(want, sinktest.Patience) {
		t.Fatalf("no %s", want)
	}
}

// TestServiceOfSystemd: ready, reloading, ready, what it does, stopping.
func TestServiceOfSystemd(t *testing.T) {
	manager := newSystemd(t)
	r, socket, _, _ := sinktest.WithSocket(t)
	manager.must(t, "READY=1")
	sinktest.Must(t, "reload", "--socket", socket)
	manager.must(t, "RELOADING=1")
	manager.must(t, "READY=1")
	sinktest.Must(t, "mode", "strip", "--socket", socket)
	manager.must(t, "STATUS=forwarding, mode strip: asked for strip by unix uid 0 ")
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
	manager.must(t, "WATCHDOG_USEC=0") // beside STOPPING=1: a stop may take longer than WatchdogSec
}

// TestWatchdogOfSystemd is told that all is well as long as the worker polls, and not while it
// hangs: systemd then ends the process and starts it again.
func TestWatchdogOfSystemd(t *testing.T) {
	manager := newSystemd(t)
	t.Setenv("WATCHDOG_USEC", "400000")
	text, _ := sinktest.AddSocket(t, strings.Replace(sinktest.Small, "mbufs      = 4096", "mbufs      = 8192", 1)+sinktest.Config("udp_port = 5000"))
	r := sinktest.Start(t, strings.NewReplacer("net_null0", "net_null0,no-rx=1", "net_null1", "net_null1,no-rx=1").Replace(text))
	manager.must(t, "READY=1")
	manager.must(t, "WATCHDOG=1")
	resume := stopThread(t, r.Cmd.Process.Pid, workerThread(t, r.Cmd.Process.Pid))
	defer resume()
	r.Unhealthy(t)
	for manager.hears("WATCHDOG=1", 100*time.Millisecond) { // what was sent before, and not yet read
	}
	manager.must(t, "STATUS=worker w0 has not polled for ")
	if manager.hears("WATCHDOG=1", time.Second) {
		t.Error("the watchdog is told that all is well while the worker hangs")
	}
	resume()
	manager.must(t, "WATCHDOG=1")
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
