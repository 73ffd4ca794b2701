// Lock: takes an interface for one process, by an abstract unix socket; Holder names who
// has it.

package iface

import (
	"errors"
	"fmt"
	"net"

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
// process that has it already, "" where none does.
func Claim(what string) (release func(), holder string, err error) {
	address := "@intsink/" + what
	l, err := net.Listen("unix", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, Holder(address), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("lock %s: %w", address, err)
	}
	go answerLock(l)
	return func() { l.Close() }, "", nil
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

// Holder describes the process that listens on a Unix socket: its pid and name, as far as this
// process may see them.
func Holder(address string) string {
	const unknown = "another process"
	c, err := net.Dial("unix", address) // which never waits (unix(7))
	if err != nil {
		return unknown
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return unknown
	}
	var cred *unix.Ucred
	raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || cred == nil || cred.Pid == 0 { // 0: of a pid namespace that is not ours
		return unknown
	}
	return fmt.Sprintf("process %d", cred.Pid)
}
