package appliance

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"intsink/cmd/internal/notify"
)

// manager is systemd's end of the socket, and what a process that it started has in its
// environment.
func manager(t *testing.T) (heard func() string, environment func(string) string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	heard = func() string {
		b, n := make([]byte, 4096), -1
		raw.Read(func(fd uintptr) bool { // what was sent is there
			n, _ = syscall.Read(int(fd), b)
			return true
		})
		if n < 0 {
			return ""
		}
		return strings.ReplaceAll(string(b[:n]), "\n", "|")
	}
	return heard, func(name string) string {
		return map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "8000000"}[name]
	}
}

// condition is that of a sink.
type condition struct{ ready, polled error }

func (c *condition) Ready() error   { return c.ready }
func (c *condition) Healthy() error { return c.polled }

// TestService: ready once the links are up, or after a while without; the watchdog is told only
// while the workers poll.
func TestService(t *testing.T) {
	heard, environment := manager(t)
	start := time.Unix(1000, 0)
	down, stuck := errors.New(`port "network": link is down: no carrier`), errors.New("worker w0 has not polled for 3s")
	var is condition
	s := &service{to: notify.New(environment), since: start, health: &is}
	for _, c := range []struct {
		at            time.Duration
		ready, polled error
		want          string
	}{
		{0, stuck, stuck, "STATUS=waiting for up to 45s: worker w0 has not polled for 3s"},
		{time.Second, down, nil, `STATUS=waiting for up to 45s: port "network": link is down: no carrier|WATCHDOG=1`},
		{2 * time.Second, down, nil, ""},
		{4 * time.Second, down, nil, "WATCHDOG=1"},
		{45 * time.Second, down, nil, `READY=1|STATUS=port "network": link is down: no carrier|WATCHDOG=1`},
		{46 * time.Second, nil, nil, "STATUS=forwarding"},
		{50 * time.Second, stuck, stuck, "STATUS=worker w0 has not polled for 3s"},
		{60 * time.Second, stuck, stuck, ""},
		{61 * time.Second, nil, nil, "STATUS=forwarding|WATCHDOG=1"},
	} {
		is = condition{c.ready, c.polled}
		s.look(start.Add(c.at))
		if got := heard(); got != c.want {
			t.Errorf("at %v: %q, want %q", c.at, got, c.want)
		}
	}
	s = &service{to: notify.New(environment), since: start, health: &condition{}}
	s.look(start)
	if got := heard(); got != "READY=1|STATUS=forwarding|WATCHDOG=1" {
		t.Errorf("with links from the start: %q", got)
	}
}

// TestWithoutAManager nothing is told, and another process's watchdog is not ours.
func TestWithoutAManager(t *testing.T) {
	n := notify.New(func(string) string { return "" })
	if n.Send("READY=1"); n.Enabled() || n.Watchdog() != 0 {
		t.Errorf("%+v", n)
	}
	of := func(pid string) time.Duration {
		return notify.New(func(name string) string {
			return map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": pid}[name]
		}).Watchdog()
	}
	if of("1") != 0 || of("") != time.Second {
		t.Errorf("watchdog %v of process 1, %v of any", of("1"), of(""))
	}
}
