// Opens the unix socket of the API, and finds the process at its other end (SO_PEERCRED).

package control

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"intsink/cmd/internal/trusted"
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

// ListenOn is Listen of the socket at path that an earlier program of this process has opened.
func ListenOn(fd int, path string) (*SocketListener, error) {
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	file, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	return &SocketListener{l, path, file}, nil
}

// File is the listener as a file that a program may inherit. The socket stays at its path when l is closed.
func (l *SocketListener) File() (*os.File, error) { return l.Listener.(*net.UnixListener).File() }

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

// PeerOf is the process at the other end of a connection that a SocketListener has accepted; -1: unknown.
func PeerOf(c net.Conn) (pid, uid int) {
	p, ok := c.RemoteAddr().(peer)
	if !ok {
		return -1, -1
	}
	return p.pid, p.uid
}

func peerOf(c net.Conn) peer {
	pid, uid, err := trusted.Peer(c)
	if err != nil {
		return peer{-1, -1}
	}
	return peer{uid, pid}
}
