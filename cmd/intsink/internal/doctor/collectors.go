// doctor on collectors: asks the kernel for the route to each, and finds hosts where nobody
// listens.

package doctor

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"intsink/conf"
)

// collectors looks at whether the kernel has a way to each, and whether their hosts
// answer that nobody listens.
func collectors(h *host, c *conf.Config) (all []Finding) {
	for i := range c.Collectors {
		col := &c.Collectors[i]
		if col.Port != "" {
			all = append(all, ok("collector %q: %s leaves by port %q", col.Name, col.Address, col.Port))
			continue
		}
		if !col.Address.IsValid() {
			all = append(all, fault(byHand("mend the name, or the name server"), "collector %q: %s does not resolve", col.Name, col.Host))
			continue
		}
		if err := h.machine.Route(col.Address); err != nil {
			all = append(all, fault("ip route get "+col.Address.Addr().String(), "collector %q: no way to %s: %v", col.Name, col.Address, err))
			continue
		}
		if said := h.machine.Peer(col.Address); said != "" {
			all = append(all, fault(byHand("start the collector, or mend its address"), "collector %q: %s: %s", col.Name, col.Address, said))
			continue
		}
		all = append(all, ok("collector %q: there is a way to %s, and nothing speaks against it", col.Name, col.Address))
	}
	return all
}

// KernelRoute asks the kernel for a way, without a packet.
func KernelRoute(to netip.AddrPort) error {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return err
	}
	return c.Close()
}

// patience is how long an answer to an empty datagram may take.
const patience = 300 * time.Millisecond

// KernelPeer sends an empty datagram and says what came back. A collector ignores it; a
// host on which none listens refuses it (ICMP).
func KernelPeer(to netip.AddrPort) string {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return ""
	}
	defer c.Close()
	c.Write(nil)
	c.SetReadDeadline(time.Now().Add(patience))
	var b [1]byte
	_, err = c.Read(b[:])
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return "its host answers that nobody listens on the port"
	case errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETUNREACH):
		return "a router answers that it cannot be reached"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ""
	}
	return ""
}
