// Opens packet sockets: options, buffers, bind, fanout group, a filter that keeps frames
// away until all are ready.

package afpacket

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	vnetHdrLen = 10 // struct virtio_net_hdr in front of each frame of the ring

	// ringHead is the longest distance from the start of a frame of the ring to that of
	// the packet: tpacket2_hdr, sockaddr_ll, 16 bytes of room, aligned, virtio_net_hdr
	// (tpacket_rcv in net/packet/af_packet.c).
	ringHead = 96

	blockLen   = 64 << 10
	copyBuffer = 32 << 20 // for frames that are longer than those of the ring
	sendBuffer = 8 << 20
)

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// openReceiver makes a packet socket with a ring for frames of mtu. It is bound to no
// interface yet.
func openReceiver(frames, mtu int) (*ring, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, socketError(err)
	}
	for _, o := range []struct{ option, value int }{
		{unix.PACKET_VERSION, unix.TPACKET_V2},
		{unix.PACKET_VNET_HDR, 1},
		{unix.PACKET_IGNORE_OUTGOING, 1},
		{unix.PACKET_COPY_THRESH, 1},
	} {
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, o.option, o.value); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("packet socket option %d: %w; it takes Linux 4.20 or newer", o.option, err)
		}
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, copyBuffer) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, copyBuffer)
	}
	r, err := mapRing(fd, frames, mtu)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return r, nil
}

func socketError(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("packet socket: %w: it needs CAP_NET_RAW: run as root, or setcap cap_net_raw,cap_net_admin,cap_ipc_lock+ep on the program", err)
	}
	return fmt.Errorf("packet socket: %w", err)
}

// silence keeps frames away from the socket while it is not yet in its fanout group:
// it would get those of all queues.
func silence(fd int) error {
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop[0]})
}

// listen takes the filter of silence away.
func listen(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) }

// bind makes the socket receive all frames of the interface, those for others too.
func bind(fd, index int) error {
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: index}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	promiscuous := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &promiscuous); err != nil {
		return fmt.Errorf("promiscuous mode: %w", err)
	}
	return nil
}

// joinFanout makes all sockets share the interface's frames by flow. Without flags:
// PACKET_FANOUT_FLAG_DEFRAG would reassemble fragments, ROLLOVER would reorder.
func joinFanout(rings []*ring) error {
	if len(rings) < 2 {
		return nil
	}
	group := unix.PACKET_FANOUT_HASH<<16 | unix.PACKET_FANOUT_FLAG_UNIQUEID<<16
	for i, r := range rings {
		if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_FANOUT, group); err != nil {
			return fmt.Errorf("fanout over %d queues: %w; an interface that is down may be the reason", len(rings), err)
		}
		if i == 0 {
			id, err := unix.GetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_FANOUT)
			if err != nil {
				return fmt.Errorf("fanout: %w", err)
			}
			group = unix.PACKET_FANOUT_HASH<<16 | id&0xffff
		}
	}
	return nil
}

// openSender makes a socket that receives nothing and sends by the interface.
func openSender(index int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, socketError(err)
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}))
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("socket to send: %w", err)
	}
	return fd, nil
}
