package main

import (
	"encoding/binary"
	"encoding/json"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// watch counts the frames that arrive on an interface, and those that carry
// INT by UDP port.
func watch(args []string) error {
	port, err := strconv.ParseUint(args[1], 10, 16)
	if err != nil {
		return err
	}
	i, err := net.InterfaceByName(args[0])
	if err != nil {
		return err
	}
	all := uint16(unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, int(all))
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}); err != nil {
		return err
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<20)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	var seen struct {
		Frames uint64 `json:"frames"`
		INT    uint64 `json:"int"`
	}
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000})
	buf := make([]byte, 65536)
	for {
		select {
		case <-stop:
			return json.NewEncoder(os.Stdout).Encode(seen)
		default:
		}
		n, from, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			continue
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		seen.Frames++
		if hasPort(buf[:n], uint16(port)) {
			seen.INT++
		}
	}
}

// hasPort: an untagged IPv4 UDP packet to port.
func hasPort(b []byte, port uint16) bool {
	if len(b) < 42 || binary.BigEndian.Uint16(b[12:]) != 0x0800 || b[23] != 17 {
		return false
	}
	l4 := 14 + int(b[14]&15)*4
	return len(b) >= l4+4 && binary.BigEndian.Uint16(b[l4+2:]) == port
}
