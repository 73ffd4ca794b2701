// Lock: takes an interface for one process, by an abstract unix socket; Holder names who
// has it.

package iface

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// TakenError is that another process has the interface.
type TakenError struct{ Name, Holder string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("interface %q is in use by %s: two sinks on an interface would forward every packet twice; stop the other one", e.Name, e.Holder)
}

// Lock makes this process the only one of its kind on the interface, until release is
// called or the process ends. The lock is the abstract Unix socket
// @intsink/interface/NAME, which belongs to the network namespace as the interface
// does. An error names the process that has it.
func Lock(name string) (release func(), err error) {
	s, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	release, holder, err := Claim("interface/" + s.Name) // not an alternative name that it was given by
	if holder != "" {
		return nil, &TakenError{name, holder}
	}
	if err != nil {
		return nil, fmt.Errorf("interface %q: %w", name, err)
	}
	return release, nil
}

// Claim makes this process the only one of its kind that has what: the abstract Unix socket
// @intsink/what, in this network namespace, until release is called or the process ends. holder is the
// process that has it already, "" where none does. Anybody may bind such a name, but a holder counts only
// where sinks run as its user: nobody else keeps a sink from its interfaces, or from its bypass switch.
func Claim(what string) (release func(), holder string, err error) {
	address := "@intsink/" + what
	l, err := net.Listen("unix", address)
	if errors.Is(err, unix.EADDRINUSE) {
		c := listenerOf(address)
		for range 20 { // between bind and listen nobody answers, for microseconds
			if c.Uid != nobody {
				break
			}
			time.Sleep(5 * time.Millisecond)
			c = listenerOf(address)
		}
		if runsSinks(c) {
			return nil, describe(c), nil
		}
		slog.Warn("a process of a user who runs no sink has the name of a lock: it does not count, and whether another sink has the same is not known; end that process", "socket", address, "uid", c.Uid, "pid", c.Pid)
		return func() {}, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("lock %s: %w", address, err)
	}
	claims.Lock()
	claims.all[l] = true
	claims.Unlock()
	go answerLock(l)
	return func() {
		l.Close()
		claims.Lock()
		defer claims.Unlock()
		delete(claims.all, l)
	}, "", nil
}

// claims are those of this process.
var claims = struct {
	sync.Mutex
	all map[net.Listener]bool
}{all: map[net.Listener]bool{}}

// ReleaseAll releases all that this process has claimed: another one takes its place.
func ReleaseAll() {
	claims.Lock()
	defer claims.Unlock()
	for l := range claims.all {
		l.Close()
	}
	clear(claims.all)
}

// packagedUser is whom the packaged unit runs the sink as.
const packagedUser = "intsink"

// runsSinks tells whether a sink may run as the user of a process: root, the user of this process, or that of the package.
func runsSinks(c unix.Ucred) bool {
	if c.Uid == 0 || int(c.Uid) == os.Geteuid() {
		return true
	}
	u, err := user.Lookup(packagedUser)
	return err == nil && u.Uid == strconv.Itoa(int(c.Uid))
}

// answerLock lets Holder connect, until the lock is released.
func answerLock(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// Holder describes the process that listens on a Unix socket: its pid, as far as this process may see it.
func Holder(address string) string { return describe(listenerOf(address)) }

// nobody is a user that no process has.
const nobody = 1<<32 - 1

// listenerOf returns who listens on a Unix socket (SO_PEERCRED, unix(7)), nobody where that is not known.
func listenerOf(address string) unix.Ucred {
	unknown := unix.Ucred{Uid: nobody}
	c, err := net.Dial("unix", address) // which never waits (unix(7))
	if err != nil {
		return unknown
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return unknown
	}
	cred := &unknown
	raw.Control(func(fd uintptr) {
		if found, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			cred = found
		}
	})
	return *cred
}

func describe(c unix.Ucred) string {
	if c.Pid == 0 { // of a pid namespace that is not ours
		return "another process"
	}
	return fmt.Sprintf("process %d", c.Pid)
}
