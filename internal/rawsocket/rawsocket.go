// Package rawsocket sends and receives whole frames of a kernel interface (AF_PACKET), one
// system call each, as the kernel hands them over: checksums may be missing, and frames be joined. Only
// tests and the playground import it; what forwards traffic uses dpdk/afpacket.
package rawsocket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Interface is an open kernel interface.
type Interface struct {
	Name string
	MTU  int
	fd   int
}

// Open opens the interface in promiscuous mode.
func Open(name string) (*Interface, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("there is no interface %q here; ip link lists those of this network namespace", name)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) // until bind names one it would get the frames of all interfaces
	if err != nil {
		return nil, fmt.Errorf("interface %q: packet socket: %w (it takes root or CAP_NET_RAW)", name, err)
	}
	promiscuous := unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: i.Index}),
		unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &promiscuous),
		// A time-out, so that Receive sees that it is to stop.
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}))
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("interface %q: %w", name, err)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)
	return &Interface{Name: name, MTU: i.MTU, fd: fd}, nil
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

const (
	tagLen  = 4
	macsLen = 12
)

// Receive calls handle with every frame that arrives until stop is set, as it was on the
// wire: the VLAN tag that the kernel takes out is back. Frames that this machine sent
// out of the interface are not among them. handle may change the frame, but not keep it.
func (i *Interface) Receive(stop *atomic.Bool, handle func([]byte)) {
	buf := make([]byte, tagLen+65536)
	control := make([]byte, 256)
	for !stop.Load() {
		n, oob, _, from, err := unix.Recvmsg(i.fd, buf[tagLen:], control, 0)
		if err != nil {
			continue // the time-out, or an interface that is down for a moment
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		frame := buf[tagLen : tagLen+n]
		if tag := tagOf(control[:oob]); tag != 0 && n >= macsLen {
			frame = buf[:tagLen+n]
			copy(frame, frame[tagLen:tagLen+macsLen])
			binary.BigEndian.PutUint32(frame[macsLen:], tag)
		}
		handle(frame)
	}
}

// tagOf returns the VLAN tag (TPID and TCI) that PACKET_AUXDATA carries; 0 if there is none.
func tagOf(control []byte) uint32 {
	all, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range all {
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA || len(m.Data) < 20 {
			continue
		}
		// struct tpacket_auxdata
		status := binary.NativeEndian.Uint32(m.Data)
		tci, tpid := binary.NativeEndian.Uint16(m.Data[16:]), binary.NativeEndian.Uint16(m.Data[18:])
		if status&unix.TP_STATUS_VLAN_VALID == 0 {
			return 0
		}
		if status&unix.TP_STATUS_VLAN_TPID_VALID == 0 {
			tpid = 0x8100
		}
		return uint32(tpid)<<16 | uint32(tci)
	}
	return 0
}

// Send queues one frame; false where the kernel refuses it.
func (i *Interface) Send(frame []byte) bool {
	for range 100 {
		_, err := unix.Write(i.fd, frame)
		if err != unix.ENOBUFS && err != unix.EAGAIN {
			return err == nil
		}
	}
	return false
}

// Close closes the interface. Receive must have ended.
func (i *Interface) Close() { unix.Close(i.fd) }
