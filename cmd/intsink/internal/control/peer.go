// Opens the unix socket of the API, and finds the process at its other end (SO_PEERCRED).

package control

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Listen opens the unix socket at path, which only its owner can reach. It replaces a socket that
// an earlier process left, but not one that somebody answers on.
func Listen(path string) (*SocketListener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%s: another process listens there", path)
	} else if info, e := os.Lstat(path); e == nil && info.Mode().Type() == os.ModeSocket && errors.Is(err, unix.ECONNREFUSED) {
		os.Remove(path) // if this fails, so does listening
	}
	old := unix.Umask(0o177)
	l, err := net.Listen("unix", path)
	unix.Umask(old)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then it may be another one's
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &SocketListener{l, path, file}, nil
}

// SocketListener gives its connections the address of the process at the other end.
type SocketListener struct {
	net.Listener
	path string
	file os.FileInfo
}

// Lost tells whether the socket is at its path no more, so that nobody finds it: it was removed, or another one has its place.
func (l *SocketListener) Lost() bool {
	now, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(now, l.file) || !now.ModTime().Equal(l.file.ModTime())
}

// Close implements net.Listener.
func (l *SocketListener) Close() error {
	if !l.Lost() {
		os.Remove(l.path)
	}
	return l.Listener.Close()
}

// Accept implements net.Listener.
func (l *SocketListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return peerConn{c, peerOf(c)}, nil
}

type peerConn struct {
	net.Conn
	peer peer
}

// RemoteAddr implements net.Conn.
func (c peerConn) RemoteAddr() net.Addr { return c.peer }

// peer is the process at the other end of a unix socket, as the kernel tells
// (SO_PEERCRED, unix(7)).
type peer struct {
	uid, pid int // -1: unknown
}

// Network implements net.Addr.
func (peer) Network() string { return "unix" }

// String implements net.Addr.
func (p peer) String() string { return fmt.Sprintf("unix uid %d pid %d", p.uid, p.pid) }

func peerOf(c net.Conn) peer {
	unknown := peer{-1, -1}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return unknown
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return unknown
	}
	p := unknown
	raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			p = peer{int(cred.Uid), int(cred.Pid)}
		}
	})
	return p
}
