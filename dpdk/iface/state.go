// State of a kernel interface and Lookup: index, MTU, MAC, up, carrier, out of RTM_NEWLINK.

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
