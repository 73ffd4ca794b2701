// UDP sockets of collect: receives with recvmmsg, sets the receive buffer, counts overflows.

package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxDatagram = 1 << 16
	slot        = maxDatagram + 33*64 // bytes of memory of a datagram: were they a power of two apart, a cache would hold eight
	perCall     = 64                  // datagrams of one recvmmsg(2)
	controlLen  = 64                  // bytes for two control messages: time of receipt and overflow count

	// A socket that was read empty is left alone for so long, if its buffer has room for what comes meanwhile. Else a datagram makes
	// a batch of its own at all rates but the highest, and waking goroutines for it takes more than its records do.
	pause     = 4 * time.Millisecond
	pauseRoom = 4 << 20
)

// datagram is a datagram that receive returned. Its payload is valid until the next call.
type datagram struct {
	from    netip.AddrPort
	arrived int64 // when the kernel received it, Unix nanoseconds
	payload []byte
}

// socket is one of several UDP sockets that share an address.
type socket struct {
	conn      *net.UDPConn
	raw       syscall.RawConn
	local     netip.AddrPort
	until     atomic.Int64 // the end of reading it empty, Unix nanoseconds; 0: it is open
	buffer    int          // bytes of receive buffer that the kernel granted
	empty     bool         // the last call took all that there was
	overflows uint32
	lost      uint64 // datagrams that its buffer had no room for: the sum of overflows, which wraps

	headers  [perCall]mmsghdr
	vectors  [perCall]unix.Iovec
	names    [perCall]unix.RawSockaddrInet6
	controls [perCall][controlLen]byte
	space    []byte
	out      [perCall]datagram
}

// mmsghdr has the layout of struct mmsghdr, see recvmmsg(2).
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
	_   [4]byte
}

// openSocket binds a socket, with share to an address that others have.
func openSocket(address string, buffer int, share bool) (*socket, error) {
	var bufferErr error
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		ctl := c.Control(func(fd uintptr) {
			if share {
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			}
			err = errors.Join(err,
				unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1),
				unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
			// SO_RCVBUFFORCE may exceed net.core.rmem_max, and needs CAP_NET_ADMIN.
			if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer) != nil {
				bufferErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
			}
		})
		return errors.Join(ctl, err)
	}}
	conn, err := lc.ListenPacket(context.Background(), "udp", address)
	if err != nil {
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("%w%s; stop the other one, or choose another port (share = true in both lets two collectors take a part each)", err, holder(address))
		}
		return nil, fmt.Errorf("%w; it must be an address of this machine and a free UDP port", err)
	}
	s := &socket{conn: conn.(*net.UDPConn), space: make([]byte, perCall*slot)}
	s.local = s.conn.LocalAddr().(*net.UDPAddr).AddrPort()
	s.local = netip.AddrPortFrom(s.local.Addr().Unmap(), s.local.Port())
	s.raw, err = s.conn.SyscallConn()
	if err = errors.Join(err, bufferErr); err != nil {
		conn.Close()
		return nil, err
	}
	s.raw.Control(func(fd uintptr) {
		s.buffer, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		s.buffer /= 2 // the kernel doubles the value for its own overhead, see socket(7)
	})
	for i := range s.headers {
		s.vectors[i].Base = &s.space[i*slot]
		s.vectors[i].SetLen(maxDatagram)
		h := &s.headers[i].hdr
		h.Name = (*byte)(unsafe.Pointer(&s.names[i]))
		h.Iov, h.Iovlen = &s.vectors[i], 1
		h.Control = &s.controls[i][0]
	}
	return s, nil
}

// receive waits for datagrams and returns up to perCall of them. The error is net.ErrClosed after Close, and
// when the socket is to be read empty (until) and is.
func (s *socket) receive() ([]datagram, error) {
	if s.empty && s.buffer >= pauseRoom && s.until.Load() == 0 {
		time.Sleep(pause)
	}
	for i := range s.headers {
		s.headers[i].hdr.Namelen = uint32(unsafe.Sizeof(s.names[i]))
		s.headers[i].hdr.SetControllen(controlLen)
	}
	var n uintptr
	var errno syscall.Errno
	call := func(fd uintptr) bool {
		n, _, errno = unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&s.headers[0])), perCall, unix.MSG_DONTWAIT, 0, 0)
		return errno != unix.EAGAIN && errno != unix.EINTR
	}
	err := s.raw.Read(call)
	if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().UnixNano() < s.until.Load() {
		err = s.raw.Control(func(fd uintptr) { call(fd) }) // does not wait
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || s.until.Load() != 0 && errno == unix.EAGAIN {
		return nil, net.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	if errno != 0 {
		return nil, os.NewSyscallError("recvmmsg", errno)
	}
	for i := range int(n) {
		s.read(i)
	}
	s.empty = n < perCall
	return s.out[:n], nil
}

// read fills s.out[i] from message i of the last call.
func (s *socket) read(i int) {
	d, m := &s.out[i], &s.headers[i]
	d.payload = s.space[i*slot:][:m.n]
	d.from = s.source(&s.names[i])
	d.arrived = 0
	for c := s.controls[i][:min(m.hdr.Controllen, controlLen)]; len(c) >= unix.SizeofCmsghdr; {
		length := binary.NativeEndian.Uint64(c)
		level, kind := binary.NativeEndian.Uint32(c[8:]), binary.NativeEndian.Uint32(c[12:])
		if length < unix.SizeofCmsghdr || length > uint64(len(c)) {
			break
		}
		data := c[unix.SizeofCmsghdr:length]
		switch {
		case level == unix.SOL_SOCKET && kind == unix.SO_TIMESTAMPNS && len(data) >= 16:
			d.arrived = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		case level == unix.SOL_SOCKET && kind == unix.SO_RXQ_OVFL && len(data) >= 4:
			now := binary.NativeEndian.Uint32(data)
			s.lost += uint64(now - s.overflows)
			s.overflows = now
		}
		c = c[min(uint64(unix.CmsgSpace(int(length)-unix.SizeofCmsghdr)), uint64(len(c))):]
	}
	if d.arrived == 0 {
		d.arrived = time.Now().UnixNano()
	}
}

// source returns the source address that the kernel wrote into name.
func (s *socket) source(name *unix.RawSockaddrInet6) netip.AddrPort {
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&name.Port))[:])
	if name.Family == unix.AF_INET {
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		return netip.AddrPortFrom(netip.AddrFrom4(four.Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(name.Addr).Unmap(), port)
}

// Close closes the socket and makes receive return.
func (s *socket) Close() error { return s.conn.Close() }

// openSockets binds n sockets to one address. The first one is bound for itself, which fails where any other
// socket has the address, and shares it with the next ones afterwards: so nobody else, a second collector least
// of all, takes a part of what comes. With share, it shares from the start.
func openSockets(address string, n, buffer int, share bool) ([]*socket, error) {
	var all []*socket
	for i := range n {
		s, err := openSocket(address, buffer, i > 0 || share)
		if err == nil {
			all = append(all, s)
			err = s.share()
		}
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("listen %s: %w", address, err)
		}
		address = s.local.String() // of port 0 the one that the kernel chose
	}
	return all, nil
}

func closeAll(all []*socket) {
	for _, s := range all {
		s.Close()
	}
}

// share lets other sockets of this user have the address as well.
func (s *socket) share() (err error) {
	ctl := s.raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	return errors.Join(ctl, err)
}
