// State of a kernel interface and Lookup; composes rtnetlink requests, splits what a socket
// returned into messages, reads answers until they are done.

package iface

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// State is the state of an interface as the kernel's RTM_NEWLINK describes it (rtnetlink(7)).
type State struct {
	Index   int
	Name    string
	MTU     int
	MAC     net.HardwareAddr
	Up      bool // it is switched on (IFF_UP)
	Carrier bool // it has a link partner (IFF_LOWER_UP)
	Master  int  // index of the bridge, bond or VRF that it belongs to; 0: none
}

// LinkUp tells whether frames can pass.
func (s *State) LinkUp() bool { return s.Up && s.Carrier }

// ErrGone is what Lookup returns where there is no such interface.
var ErrGone = errors.New("there is no such interface")

// Lookup asks for the interface of that name.
func Lookup(name string) (State, error) {
	if len(name) == 0 || len(name) >= unix.IFNAMSIZ {
		return State{}, fmt.Errorf("interface %q: %w: a name has 1 to %d bytes", name, ErrGone, unix.IFNAMSIZ-1)
	}
	s, err := ask(0, name)
	if err != nil {
		return State{}, fmt.Errorf("interface %q: %w", name, err)
	}
	return s, nil
}

// parseLink reads the payload of an RTM_NEWLINK or RTM_DELLINK message: struct
// ifinfomsg and attributes. ok is false where it is too short to be one.
func parseLink(b []byte) (s State, ok bool) {
	if len(b) < unix.SizeofIfInfomsg {
		return s, false
	}
	s.Index = int(int32(binary.NativeEndian.Uint32(b[4:])))
	flags := binary.NativeEndian.Uint32(b[8:])
	s.Up, s.Carrier = flags&unix.IFF_UP != 0, flags&unix.IFF_LOWER_UP != 0
	for b = b[unix.SizeofIfInfomsg:]; len(b) >= unix.SizeofRtAttr; {
		n := int(binary.NativeEndian.Uint16(b))
		if n < unix.SizeofRtAttr || n > len(b) {
			break
		}
		value := b[unix.SizeofRtAttr:n]
		switch binary.NativeEndian.Uint16(b[2:]) {
		case unix.IFLA_IFNAME:
			s.Name = unix.ByteSliceToString(value)
		case unix.IFLA_ADDRESS:
			s.MAC = append(net.HardwareAddr(nil), value...)
		case unix.IFLA_MASTER:
			if len(value) == 4 {
				s.Master = int(binary.NativeEndian.Uint32(value))
			}
		case unix.IFLA_MTU:
			if len(value) == 4 {
				s.MTU = int(binary.NativeEndian.Uint32(value))
			}
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return s, s.Index > 0
}

// message is one netlink message; data is its payload.
type message struct {
	kind uint16
	data []byte
}

// split cuts what one recv returned into its messages.
func split(b []byte) (all []message) {
	for len(b) >= unix.SizeofNlMsghdr {
		n := int(binary.NativeEndian.Uint32(b))
		if n < unix.SizeofNlMsghdr || n > len(b) {
			return all
		}
		all = append(all, message{binary.NativeEndian.Uint16(b[4:]), b[unix.SizeofNlMsghdr:n]})
		b = b[min(len(b), (n+3)&^3):]
	}
	return all
}

// request is an RTM_GETLINK message for the interface with that index or, where
// index is 0, of that name.
func request(index int, name string) []byte {
	b := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg, 64)
	binary.NativeEndian.PutUint16(b[4:], unix.RTM_GETLINK)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(b[unix.SizeofNlMsghdr+4:], uint32(index))
	if index == 0 {
		attr := make([]byte, unix.SizeofRtAttr, unix.SizeofRtAttr+unix.IFNAMSIZ)
		binary.NativeEndian.PutUint16(attr, uint16(unix.SizeofRtAttr+len(name)+1))
		binary.NativeEndian.PutUint16(attr[2:], unix.IFLA_IFNAME)
		attr = append(append(attr, name...), 0)
		for len(attr)%4 != 0 {
			attr = append(attr, 0)
		}
		b = append(b, attr...)
	}
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	return b
}

// ask sends one request and waits for its answer.
func ask(index int, name string) (State, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return State{}, fmt.Errorf("netlink socket: %w", err)
	}
	defer unix.Close(fd)
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2})
	if err := unix.Sendto(fd, request(index, name), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return State{}, fmt.Errorf("netlink: %w", err)
	}
	buf := make([]byte, 32<<10)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return State{}, fmt.Errorf("netlink: %w", err)
	}
	return answer(split(buf[:n]))
}

// answer takes the interface out of the kernel's reply.
func answer(all []message) (State, error) {
	for _, m := range all {
		switch m.kind {
		case unix.RTM_NEWLINK:
			if s, ok := parseLink(m.data); ok {
				return s, nil
			}
		case unix.NLMSG_ERROR:
			if len(m.data) >= 4 {
				errno := unix.Errno(-int32(binary.NativeEndian.Uint32(m.data)))
				if errno == unix.ENODEV {
					return State{}, ErrGone
				}
				return State{}, fmt.Errorf("netlink: %w", errno)
			}
		}
	}
	return State{}, errors.New("netlink: the kernel's answer has no interface in it")
}
