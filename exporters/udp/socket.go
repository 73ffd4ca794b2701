// Opens sockets to a collector: connected UDP, or raw IP where the source port is 0 or
// hashed; sets options, explains errors.

package udp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"intsink/engine/wire/report"
	"intsink/exporters"
)

// conn is an open socket. header returns the frame to build in front of a
// report packet, or nil where the kernel builds the headers.
type conn interface {
	WriteBatch(ms []ipv4.Message, flags int) (int, error)
	SetWriteDeadline(t time.Time) error // after t, WriteBatch returns os.ErrDeadlineExceeded
	Close() error
	peer() net.Addr // where WriteBatch sends, nil on a connected socket
	header(entropy uint16) *report.UDPFrame
	answers(a *answers) int // adds what came back of earlier packets, without blocking
}

// open returns a connected UDP socket. If no socket can have the source port, it returns a raw
// socket that sends whole IP packets.
func open(c *Config) (conn, error) {
	udp, err := dialUDP(c)
	if err != nil {
		return nil, err
	}
	if c.PortMode == PortAny || c.PortMode == PortFixed && c.SourcePort != 0 {
		queue, err := newErrorQueue(udp)
		return udpConn{packetWriter(udp, c.Collector.Addr()), udp, queue}, err
	}
	// The connected socket tells which source address the kernel's routes choose.
	source := udp.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	udp.Close()
	return openRaw(c, source)
}

func dialUDP(c *Config) (*net.UDPConn, error) {
	local := &net.UDPAddr{}
	if c.Source.IsValid() {
		local.IP = c.Source.AsSlice()
	}
	if c.PortMode == PortFixed {
		local.Port = int(c.SourcePort)
	}
	d := net.Dialer{LocalAddr: local, Control: func(_, _ string, raw syscall.RawConn) error {
		return setOptions(raw, c)
	}}
	conn, err := d.DialContext(context.Background(), "udp", c.Collector.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// setOptions makes the kernel send report packets that every path takes, and queue ICMP errors that
// come back, and lets several collectors share one fixed source port. IPv4 has no DF: routers cut what a
// link behind them does not take, and no ICMP is needed, which many paths lose. Over IPv6 only the sender
// cuts, as the kernel has learnt; the configuration makes packets that every path takes.
func setOptions(raw syscall.RawConn, c *Config) error {
	var err error
	ttl := int(c.TTL)
	if ttl == 0 {
		ttl = report.DefaultTTL
	}
	ctl := raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer)
		if c.Collector.Addr().Unmap().Is4() {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVERR, 1)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, int(c.DSCP)<<2)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, ttl)
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT)
		} else {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, int(c.DSCP)<<2)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, ttl)
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_WANT)
		}
	})
	return errors.Join(ctl, err)
}

// sendBuffer asks for room for a full batch of jumbo report packets.
const sendBuffer = 1 << 20

type batchWriter interface {
	WriteBatch(ms []ipv4.Message, flags int) (int, error)
}

func packetWriter(c net.PacketConn, a netip.Addr) batchWriter {
	if a.Unmap().Is4() {
		return ipv4.NewPacketConn(c)
	}
	return ipv6.NewPacketConn(c)
}

type udpConn struct {
	batchWriter
	*net.UDPConn
	queue *errorQueue
}

func (c udpConn) Close() error                   { return c.UDPConn.Close() }
func (c udpConn) peer() net.Addr                 { return nil }
func (c udpConn) header(uint16) *report.UDPFrame { return nil }
func (c udpConn) answers(a *answers) int         { return c.queue.read(a) }

// rawConn sends packets whose IP and UDP headers we build. Protocol 255
// (IPPROTO_RAW) means that the header is included and nothing is received.
type rawConn struct {
	batchWriter
	*net.IPConn
	to    net.Addr
	frame report.UDPFrame
	hash  bool
}

func openRaw(c *Config, source netip.Addr) (conn, error) {
	network := "ip4:255"
	if !c.Collector.Addr().Unmap().Is4() {
		network = "ip6:255"
	}
	pc, err := net.ListenPacket(network, source.String())
	if err != nil {
		return nil, err
	}
	return &rawConn{
		batchWriter: packetWriter(pc, c.Collector.Addr()),
		IPConn:      pc.(*net.IPConn),
		to:          &net.IPAddr{IP: c.Collector.Addr().AsSlice(), Zone: c.Collector.Addr().Zone()},
		frame:       report.UDPFrame{Src: netip.AddrPortFrom(source, c.SourcePort), Dst: c.Collector, DSCP: c.DSCP, TTL: c.TTL},
		hash:        c.PortMode == PortHash,
	}, nil
}

func (c *rawConn) Close() error   { return c.IPConn.Close() }
func (c *rawConn) peer() net.Addr { return c.to }

// answers returns 0: the kernel hands ICMP errors about a UDP packet to UDP sockets only, by
// their ports.
func (c *rawConn) answers(*answers) int { return 0 }

func (c *rawConn) header(entropy uint16) *report.UDPFrame {
	if c.hash {
		c.frame.Src = netip.AddrPortFrom(c.frame.Src.Addr(), report.EntropyPort(entropy))
	}
	c.frame.NextID()
	return &c.frame
}

// classify maps a socket error to the reason it is counted under.
func classify(err error) exporters.DropReason {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return exporters.DropTimeout
	case errors.Is(err, unix.ECONNREFUSED):
		return exporters.DropRefused
	case errors.Is(err, unix.EMSGSIZE):
		return exporters.DropPacketTooBig
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETDOWN),
		errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, net.ErrClosed):
		return exporters.DropUnreachable
	}
	return exporters.DropError
}
