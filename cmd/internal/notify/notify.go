// Notifier: sends datagrams to systemd (sd_notify), and knows the watchdog's interval.

// Package notify tells systemd how the service is (sd_notify(3)): a datagram of lines to the
// unix socket that NOTIFY_SOCKET names. Without one it does nothing.
package notify

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier sends to systemd. The zero Notifier is for who was not started by it.
type Notifier struct {
	socket   string
	parent   int // a socket to the program that started this one to take its place; 0: none
	watchdog time.Duration
}

// ParentEnv names the variable with the descriptor of a socket to the program that started this one to take its place. It
// hears, for as long as it is there, what systemd would.
const ParentEnv = "INTSINK_PARENT_SOCKET"

// New reads from environment where systemd listens, and how often it wants to hear from the
// process (sd_watchdog_enabled(3)).
func New(environment func(string) string) *Notifier {
	n := &Notifier{socket: environment("NOTIFY_SOCKET")}
	n.parent, _ = strconv.Atoi(environment(ParentEnv))
	us, err := strconv.ParseInt(environment("WATCHDOG_USEC"), 10, 64)
	pid := environment("WATCHDOG_PID")
	if err == nil && us > 0 && n.Enabled() && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.watchdog = time.Duration(us) * time.Microsecond
	}
	return n
}

// Enabled reports whether systemd listens.
func (n *Notifier) Enabled() bool { return n.socket != "" || n.parent != 0 }

// Watchdog is after how long without WATCHDOG=1 systemd takes the process for stuck; 0:
// never.
func (n *Notifier) Watchdog() time.Duration { return n.watchdog }

// patience is how long a line may wait for room in the socket's queue: systemd may hang, and who tells it must not.
const patience = 100 * time.Millisecond

// Send sends lines such as READY=1 to systemd, and reports whether it has them: nothing else depends on the socket.
func (n *Notifier) Send(lines ...string) (sent bool) {
	if n.parent != 0 {
		switch err := unix.Send(n.parent, []byte(strings.Join(lines, "\n")), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL); {
		case err == nil:
			return true
		case err != unix.EPIPE && err != unix.ECONNRESET: // it is there, and has no time
			return false
		}
	}
	if n.socket == "" {
		return true
	}
	// A name that starts with @ is an abstract one: package net takes it as such.
	c, err := net.Dial("unixgram", n.socket)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetWriteDeadline(time.Now().Add(patience))
	_, err = c.Write([]byte(strings.Join(lines, "\n")))
	return err == nil
}

// Status returns the line that shows text in systemctl status.
func Status(text string) string { return "STATUS=" + strings.ReplaceAll(text, "\n", " ") }

// Stopping is that the service stops, doing what. The watchdog is off from now on, as nobody tells it anything any more:
// systemd would else end a stop that takes longer than WatchdogSec, where TimeoutStopSec is for that.
func Stopping(doing string) string { return "STOPPING=1\nWATCHDOG_USEC=0\n" + Status(doing) }
