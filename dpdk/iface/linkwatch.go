// Watch: reads the multicast socket of rtnetlink in a goroutine, and calls back at each
// change; Follower keeps one interface's state over deletion and re-creation.

package iface

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Event is a change of one interface.
type Event struct {
	State
	Gone bool // it was deleted, or moved to another network namespace
	Lost bool // the kernel dropped events: any interface may have changed, State is empty
}

// Watcher calls its function at each change of an interface until it is closed.
type Watcher struct {
	socket *os.File
	ended  chan struct{}
}

// watchBuffer is the room for events that handle has not taken yet.
const watchBuffer = 1 << 20

// Watch calls handle, on a goroutine of its own, for each change of any interface of
// this network namespace: RTM_NEWLINK and RTM_DELLINK, in their order.
func Watch(handle func(Event)) (*Watcher, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err == nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, watchBuffer)
		if err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK}); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("watch the kernel's interfaces: netlink: %w", err)
	}
	w := &Watcher{socket: os.NewFile(uintptr(fd), "netlink"), ended: make(chan struct{})}
	go w.run(handle)
	return w, nil
}

func (w *Watcher) run(handle func(Event)) {
	defer close(w.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := w.socket.Read(buf)
		switch {
		case errors.Is(err, unix.ENOBUFS):
			w.drain(buf)
			handle(Event{Lost: true})
		case err != nil:
			return // closed
		default:
			for _, m := range split(buf[:n]) {
				if e, ok := event(m); ok {
					handle(e)
				}
			}
		}
	}
}

// drain takes what is in the socket, which is older than the events that were lost. The kernel keeps
// everything from a socket that overflowed until it is empty.
func (w *Watcher) drain(buf []byte) {
	raw, err := w.socket.SyscallConn()
	if err != nil {
		return // closed
	}
	raw.Read(func(fd uintptr) (done bool) {
		for err := error(nil); err == nil || err == unix.EINTR || err == unix.ENOBUFS; {
			_, _, err = unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT)
		}
		return true
	})
}

// event makes an Event of a netlink message. Messages of other families than AF_UNSPEC are
// about bridges (an RTM_DELLINK of AF_BRIDGE deletes no interface) and give none.
func event(m message) (e Event, ok bool) {
	if m.kind != unix.RTM_NEWLINK && m.kind != unix.RTM_DELLINK || len(m.data) == 0 || m.data[0] != unix.AF_UNSPEC {
		return e, false
	}
	e.State, ok = parseLink(m.data)
	e.Gone = m.kind == unix.RTM_DELLINK
	return e, ok
}

// Close ends the watch; handle is not called any more when it returns. It must not be
// called by handle.
func (w *Watcher) Close() {
	w.socket.Close()
	<-w.ended
}

// Follower knows the present state of one interface, also after it was deleted and
// one of its name was made anew. Its methods may be called from any goroutine.
type Follower struct {
	name    string
	watcher *Watcher

	mu      sync.Mutex
	state   State
	present bool
	anew    bool // it was gone since Follow, or is another one of its name
	changes uint64
}

// Follow starts to follow the interface of that name, which must exist. changed is
// called after each change of its state, on a goroutine of its own; it may be nil.
func Follow(name string, changed func()) (*Follower, error) {
	f := &Follower{name: name}
	ready := make(chan struct{})
	w, err := Watch(func(e Event) {
		<-ready
		if f.handle(e) && changed != nil {
			changed()
		}
	})
	if err != nil {
		return nil, err
	}
	// The watch is on: what changes from here is among its events.
	f.watcher = w
	f.state, err = Lookup(name)
	f.present = err == nil
	close(ready)
	if err != nil {
		w.Close()
		return nil, err
	}
	return f, nil
}

// handle applies an event and reports whether it changed anything.
func (f *Follower) handle(e Event) bool {
	lost := e.Lost
	if lost {
		s, err := f.lookAgain()
		if err != nil && !errors.Is(err, ErrGone) {
			return false // the kernel does not say: the next event will
		}
		e = Event{State: s, Gone: err != nil}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	same, anew := f.present && e.Index == f.state.Index, !f.present && !e.Gone && e.Name == f.name
	if !same && !anew && !lost {
		return false
	}
	was, before := f.present && f.state.LinkUp(), f.state
	f.anew = f.anew || e.Gone || e.Index != before.Index
	if f.present = !e.Gone; f.present {
		f.state = e.State
	}
	up := f.present && f.state.LinkUp()
	if up != was {
		f.changes++
	}
	return up != was || e.Gone || before.Index != f.state.Index || before.MTU != f.state.MTU || before.Up != f.state.Up
}

// lookAgain asks for the interface that is followed, which may have another name by now, and where
// that is gone for the one that has its name.
func (f *Follower) lookAgain() (State, error) {
	if s, present := f.State(); present {
		if s, err := ask(s.Index, ""); !errors.Is(err, ErrGone) {
			return s, err
		}
	}
	return Lookup(f.name)
}

// Name is the name that Follow was given.
func (f *Follower) Name() string { return f.name }

// State is the latest state, and whether the interface exists. Where it does not, the
// state is its last.
func (f *Follower) State() (s State, present bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.present
}

// Changes counts how often the link came up or went down.
func (f *Follower) Changes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// MadeAnew reports whether the interface is not the one that Follow found: what was opened on
// that one receives and sends nothing more.
func (f *Follower) MadeAnew() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.anew
}

// LinkDown describes what is wrong with the link and what to do; empty if the link is up.
func (f *Follower) LinkDown() string {
	s, present := f.State()
	switch {
	case !present:
		return "interface " + f.name + " is gone"
	case !s.Up:
		return "interface " + s.Name + " is switched off: ip link set " + s.Name + " up"
	case !s.Carrier:
		return "interface " + s.Name + " has no carrier"
	}
	return ""
}

// Close ends the watch. changed must not call it.
func (f *Follower) Close() { f.watcher.Close() }
