// Watch: reads the multicast socket of rtnetlink in a goroutine, and calls back at each change of
// an interface.

package iface

import (
	"errors"
	"fmt"
	"os"

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
