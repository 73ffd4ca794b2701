package webguard

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
)

// crowd is a listener of connections from these addresses.
type crowd struct {
	net.Listener
	from []string
}

func (c *crowd) Accept() (net.Conn, error) {
	if len(c.from) == 0 {
		return nil, io.EOF
	}
	a := c.from[0]
	c.from = c.from[1:]
	here, _ := net.Pipe()
	return caller{here, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a))}, nil
}

type caller struct {
	net.Conn
	from net.Addr
}

func (c caller) RemoteAddr() net.Addr { return c.from }

// TestNobodyLocksOthersOut: one address, one /64, or many addresses together that keep connections leave room for
// others and for this machine; what is closed is free again.
func TestNobodyLocksOthersOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		flood func(i int) string
		taken int
		next  string // comes after the flood, and is served
	}{
		{"one address", func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1000+i) }, 32, "192.0.2.2:1"},
		{"one /64", func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", 1+i) }, 32, "[2001:db8:0:1::1]:1"},
		{"mapped addresses", func(i int) string { return fmt.Sprintf("[::ffff:192.0.2.1]:%d", 1000+i) }, 32, "192.0.2.2:1"},
		{"many addresses", func(i int) string { return fmt.Sprintf("192.0.%d.%d:1", i/200, i%200+1) }, 448, "127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &crowd{}
			for i := range 2000 {
				in.from = append(in.from, c.flood(i))
			}
			s := Shares(in, 512)
			var open []net.Conn
			for {
				o, err := s.Accept()
				if err != nil {
					break
				}
				open = append(open, o)
			}
			if len(open) != c.taken {
				t.Errorf("%d are taken, want %d", len(open), c.taken)
			}
			in.from = []string{c.next}
			if o, err := s.Accept(); err != nil || o.RemoteAddr().String() != c.next {
				t.Errorf("%s: %v", c.next, err)
			}
			open[0].Close()
			open[0].Close() // counts once
			in.from = []string{c.flood(0), c.flood(0)}
			if _, err := s.Accept(); err != nil {
				t.Error("what is closed is not free again")
			}
			if _, err := s.Accept(); err == nil && c.taken == 32 {
				t.Error("one closed connection frees two")
			}
		})
	}
}
