package udp

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
	"intsink/dpdk/ring"
	"intsink/engine/wire/report"
	"intsink/exporters"
	"intsink/internal/loopback"
)

// fill pushes n sealed report packets, the i-th with i in its first byte.
func fill(t *testing.T, a *mbuf.Arena, r *ring.Ring, n, size int) {
	v := mbuf.NewVec()
	for i := range n {
		if !a.AllocBulk(v, 1) {
			t.Fatal("no mbufs")
		}
		b := v[0].SetLen(report.HandoffLen + size)
		report.Handoff{Entropy: uint16(i), Reports: 1, Waited: 1}.Put(b)
		copy(b[report.HandoffLen:], bytes.Repeat([]byte{byte(i)}, size))
		if !r.Push(v[0]) {
			t.Fatal("ring is full")
		}
	}
}

func setup(t *testing.T) (*mbuf.Arena, *ring.Ring) {
	a, err := mbuf.NewArena(256, 4096)
	if err != nil {
		t.Fatal(err)
	}
	return a, ring.New(256)
}

// drain runs the exporter until the ring is empty.
func drain(e *Exporter) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e.Run(ctx)
}

func listen(t *testing.T, addr string) *net.UDPConn {
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetReadDeadline(time.Now().Add(time.Minute))
	return c.(*net.UDPConn)
}

func TestEveryPortModeArrives(t *testing.T) {
	const n, size = 150, 200
	for _, c := range []struct {
		name, listen string
		mode         PortMode
		port         uint16
		want         func(i int, port uint16) bool
	}{
		{"any", "127.0.0.1:0", PortAny, 0, func(_ int, p uint16) bool { return p != 0 }},
		{"fixed", "127.0.0.1:0", PortFixed, 14234, func(_ int, p uint16) bool { return p == 14234 }},
		{"literally zero", "127.0.0.1:0", PortFixed, 0, func(_ int, p uint16) bool { return p == 0 }},
		{"hash", "127.0.0.1:0", PortHash, 0, func(i int, p uint16) bool { return p == 0xc000|uint16(i) }},
		{"any over ipv6", "[::1]:0", PortAny, 0, func(_ int, p uint16) bool { return p != 0 }},
		{"hash over ipv6", "[::1]:0", PortHash, 0, func(i int, p uint16) bool { return p == 0xc000|uint16(i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			collector := listen(t, c.listen)
			a, r := setup(t)
			fill(t, a, r, n, size)
			e := New(Config{
				Collector: collector.LocalAddr().(*net.UDPAddr).AddrPort(), PortMode: c.mode, SourcePort: c.port,
				Rings: []*ring.Ring{r}, Pool: a, Clock: func() int64 { return 3e6 },
			})
			drain(e)
			buf := make([]byte, 2048)
			for i := range n {
				got, from, err := collector.ReadFromUDPAddrPort(buf)
				if err != nil {
					t.Fatalf("datagram %d: %v", i, err)
				}
				if got != size || buf[0] != byte(i) || buf[size-1] != byte(i) || !c.want(i, from.Port()) {
					t.Fatalf("datagram %d: %d bytes, first %d, from port %d", i, got, buf[0], from.Port())
				}
			}
			if d := e.Counters().Delays; d.Classes[11] != n || d.Sum != n*(3e6+1024) { // 3 ms and a little
				t.Errorf("delays %+v", d)
			}
			if e.Packets.Load() != n || e.Bytes.Load() != n*size || a.InUse() != 0 {
				t.Errorf("%d packets, %d bytes, %d mbufs in use", e.Packets.Load(), e.Bytes.Load(), a.InUse())
			}
		})
	}
}

// TestUnreachableIsCounted: everything is sent or counted, and freed.
func TestUnreachableIsCounted(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:9", "[2001:db8::1]:9"} {
		a, r := setup(t)
		fill(t, a, r, 100, 50)
		e := New(Config{Collector: netip.MustParseAddrPort(addr), Rings: []*ring.Ring{r}, Pool: a})
		drain(e)
		lost := uint64(0)
		for i := range exporters.NumDropReasons {
			lost += e.Dropped[i].Load()
		}
		if e.Packets.Load()+lost != 100 || a.InUse() != 0 {
			t.Errorf("%s: %d sent, %d lost, %d mbufs in use", addr, e.Packets.Load(), lost, a.InUse())
		}
	}
}

// TestRefusedIsCounted: nobody listens on the port. Each packet that the host refuses counts as
// refused, not as sent.
func TestRefusedIsCounted(t *testing.T) {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		closed := listen(t, host)
		to := closed.LocalAddr().(*net.UDPAddr).AddrPort()
		closed.Close()
		a, r := setup(t)
		e := New(Config{Collector: to, Rings: []*ring.Ring{r}, Pool: a})
		for range 3 {
			fill(t, a, r, 150, 50)
			drain(e)
			e.retryAt = time.Time{}
		}
		sent, refused := e.Packets.Load(), e.Dropped[exporters.DropRefused].Load()
		if sent+refused != 450 || refused < 400 || e.Bytes.Load() != sent*50 || a.InUse() != 0 {
			t.Errorf("%s: %d sent, %d bytes, %d refused, %d mbufs in use", host, sent, e.Bytes.Load(), refused, a.InUse())
		}
	}
}

// TestACollectorThatComesBack: what was refused keeps nothing from one that
// listens again.
func TestACollectorThatComesBack(t *testing.T) {
	to := netip.MustParseAddrPort(loopback.Address(t))
	a, r := setup(t)
	e := New(Config{Collector: to, Rings: []*ring.Ring{r}, Pool: a})
	if !e.dial() {
		t.Fatal("no socket")
	}
	export := func(n int) {
		fill(t, a, r, n, 50)
		e.export(r.Pop(e.vec, mbuf.MaxBurst))
	}
	export(10)
	if n := e.Dropped[exporters.DropRefused].Load(); n != 10 {
		t.Errorf("%d of 10 refused", n)
	}
	collector := listen(t, to.String())
	export(20)
	buf := make([]byte, 100)
	for i := range 20 {
		if n, _, err := collector.ReadFromUDPAddrPort(buf); err != nil || n != 50 || buf[0] != byte(i) {
			t.Fatalf("datagram %d: %d bytes, first %d, %v", i, n, buf[0], err)
		}
	}
	if sent, refused := e.Packets.Load(), e.Dropped[exporters.DropRefused].Load(); sent != 20 || refused != 10 || e.back != 0 {
		t.Errorf("%d sent, %d refused, %d owed", sent, refused, e.back)
	}
}

// TestMove: reports wait for no address, and go to the other one after a move, in order.
func TestMove(t *testing.T) {
	a, r := setup(t)
	first, second := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	e := New(Config{Rings: []*ring.Ring{r}, Pool: a})
	fill(t, a, r, 3, 100)
	drain(e)
	if got := e.Dropped[exporters.DropUnreachable].Load(); got != 3 {
		t.Errorf("without an address: %d dropped, want 3", got)
	}
	for i, c := range []*net.UDPConn{first, second} {
		e.drainEnd = time.Time{}
		e.Move(c.LocalAddr().(*net.UDPAddr).AddrPort())
		fill(t, a, r, 2, 100)
		drain(e)
		for n := range 2 {
			b := make([]byte, 200)
			if _, err := c.Read(b); err != nil || b[0] != byte(n) {
				t.Errorf("collector %d: %v, report packet %d, want %d", i, err, b[0], n)
			}
		}
	}
}

// TestDSCPAndTTL of report packets are those of the configuration, whoever builds the headers.
func TestDSCPAndTTL(t *testing.T) {
	for _, c := range []struct {
		address string
		mode    PortMode
		tos     int
		ttl     uint8
	}{{"127.0.0.1:0", PortAny, 46 << 2, 7}, {"127.0.0.1:0", PortHash, 46 << 2, 7}, {"[::1]:0", PortAny, 46 << 2, 7}, {"127.0.0.1:0", PortAny, 0, 0}} {
		listener := listen(t, c.address)
		raw, err := listener.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			for _, o := range [][2]int{{unix.IPPROTO_IP, unix.IP_RECVTOS}, {unix.IPPROTO_IP, unix.IP_RECVTTL}, {unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS}, {unix.IPPROTO_IPV6, unix.IPV6_RECVHOPLIMIT}} {
				unix.SetsockoptInt(int(fd), o[0], o[1], 1)
			}
		})
		a, r := setup(t)
		fill(t, a, r, 1, 40)
		drain(New(Config{Collector: listener.LocalAddr().(*net.UDPAddr).AddrPort(), PortMode: c.mode, DSCP: uint8(c.tos >> 2), TTL: c.ttl, Rings: []*ring.Ring{r}, Pool: a}))
		oob := make([]byte, 256)
		_, n, _, _, err := listener.ReadMsgUDP(make([]byte, 100), oob)
		if err != nil {
			t.Fatal(err)
		}
		tos, ttl := -1, -1
		all, _ := unix.ParseSocketControlMessage(oob[:n])
		for _, m := range all {
			switch int(m.Header.Type) {
			case unix.IP_TOS, unix.IPV6_TCLASS:
				tos = int(m.Data[0])
			case unix.IP_TTL, unix.IPV6_HOPLIMIT:
				ttl = int(m.Data[0])
			}
		}
		if want := max(int(c.ttl), 64*int(1-min(c.ttl, 1))); tos != c.tos || ttl != want {
			t.Errorf("%+v: TOS %d, TTL %d, want %d", c, tos, ttl, want)
		}
	}
}
