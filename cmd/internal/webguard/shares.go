// Shares: bounds the connections of each address, and keeps some for this machine.

package webguard

import (
	"net"
	"net/netip"
	"sync"
)

// Shares is l, for an endpoint that takes all connections at once. An address of another machine (of IPv6: its /64)
// has a sixteenth of them, other machines together seven eighths: what is beyond is closed at once. So whoever is on
// this machine, such as its health check, finds room.
func Shares(l net.Listener, all int) net.Listener {
	return &shares{Listener: l, each: all / 16, others: all - all/8, open: map[netip.Prefix]int{}}
}

type shares struct {
	net.Listener
	each, others int

	mu   sync.Mutex
	open map[netip.Prefix]int // connections of other machines
	sum  int                  // of open
}

// Accept implements net.Listener.
func (s *shares) Accept() (net.Conn, error) {
	for {
		c, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, far := sourceOf(c.RemoteAddr())
		if !far {
			return c, nil
		}
		if s.take(from) {
			return &shared{Conn: c, end: sync.OnceFunc(func() { s.give(from) })}, nil
		}
		c.Close()
	}
}

// sourceOf returns whose share a connection is of; false: it comes from this machine.
func sourceOf(a net.Addr) (netip.Prefix, bool) {
	p, err := netip.ParseAddrPort(a.String())
	ip := p.Addr().Unmap().WithZone("")
	if err != nil || ip.IsLoopback() {
		return netip.Prefix{}, false
	}
	return ShareOf(ip), true
}

// ShareOf returns whom an address counts as: itself, of IPv6 its /64.
func ShareOf(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	from, _ := ip.Prefix(bits) // never fails for so many
	return from
}

func (s *shares) take(from netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[from] >= s.each || s.sum >= s.others {
		return false
	}
	s.open[from]++
	s.sum++
	return true
}

func (s *shares) give(from netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum--
	if s.open[from]--; s.open[from] == 0 {
		delete(s.open, from)
	}
}

// shared is a connection that ends its part of a share with itself.
type shared struct {
	net.Conn
	end func()
}

// Close implements net.Conn.
func (c *shared) Close() error {
	defer c.end()
	return c.Conn.Close()
}
