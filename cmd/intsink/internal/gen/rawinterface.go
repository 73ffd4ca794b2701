package gen

import (
	"fmt"
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// RawInterface sends and receives whole frames of a kernel interface
// (AF_PACKET).
type RawInterface struct {
	name string
	mtu  int
	fd   int
}

// OpenInterface opens the interface in promiscuous mode.
func OpenInterface(name string) (*RawInterface, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("interface %q: %w", name, err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, int(htons(unix.ETH_P_ALL)))
	if err != nil {
		return nil, fmt.Errorf("interface %q: packet socket: %w (it takes root or CAP_NET_RAW)", name, err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: i.Index}); err != nil {
		return nil, fmt.Errorf("interface %q: bind: %w", name, err)
	}
	promiscuous := unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &promiscuous); err != nil {
		return nil, fmt.Errorf("interface %q: promiscuous mode: %w", name, err)
	}
	// A deep queue, and a time-out so that receive sees that it is to stop.
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000})
	return &RawInterface{name: name, mtu: i.MTU, fd: fd}, nil
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// Receive calls handle with every frame that arrives until stop is set. Frames
// that this machine sent out of the interface are not among them.
func (r *RawInterface) Receive(stop *atomic.Bool, handle func([]byte)) {
	buf := make([]byte, 65536)
	for !stop.Load() {
		n, from, err := unix.Recvfrom(r.fd, buf, 0)
		if err != nil {
			continue // the time-out, or an interface that is down for a moment
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		handle(buf[:n])
	}
}

// Send queues one frame; false where the kernel refuses it.
func (r *RawInterface) Send(frame []byte) bool {
	for range 100 {
		_, err := unix.Write(r.fd, frame)
		if err != unix.ENOBUFS && err != unix.EAGAIN {
			return err == nil
		}
	}
	return false
}
