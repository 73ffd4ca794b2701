package packets_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/cmd/intsink/e2e/sinktest"
	"intsink/cmd/intsink/internal/observe/observetest"
	"intsink/engine/wire/intgen"
	"intsink/internal/checksum"
	"intsink/internal/netns"
)

// TestPathMTUThroughTheSink: a router's "fragmentation needed" that quotes a datagram with INT changes the path MTU of
// the socket that sent it, by way of the sink.
func TestPathMTUThroughTheSink(t *testing.T) {
	if !netns.In(t) {
		return
	}
	there, _ := sinktest.TwoHosts(t, 1500)
	r := sinktest.Start(t, sinktest.KernelPorts("kernel:s-net", "kernel:s-host"))
	r.Ready(t)
	var c *net.UDPConn
	there(func() {
		var err error
		if c, err = net.DialUDP("udp4", &net.UDPAddr{Port: 1000}, &net.UDPAddr{IP: net.IPv4(10, 66, 0, 1), Port: 2000}); err != nil {
			t.Error(err)
		}
	})
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	mtu := func() (n int) {
		raw.Control(func(fd uintptr) { n, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
	})
	if err != nil || mtu() != 1500 {
		t.Fatalf("%v, an MTU of %d at first", err, mtu())
	}

	f := intgen.Flow{Src: netip.MustParseAddr("10.66.0.2"), Dst: netip.MustParseAddr("10.66.0.1"), Proto: intgen.UDP, SrcPort: 1000, DstPort: 2000}
	sent := f.Frame(600, 1)
	s := intgen.Source{UDPPort: 5000, Bitmap: 0xe000, MaxHops: 8}
	seen, err := s.Insert(sent, []intgen.Hop{{NodeID: 2, Ingress: 1, Egress: 2}, {NodeID: 1, Ingress: 1, Egress: 2}})
	if err != nil {
		t.Fatal(err)
	}
	icmp := append([]byte{3, 4, 0, 0, 0, 0, 1400 >> 8, 1400 & 0xff}, seen[14:14+128]...)
	binary.BigEndian.PutUint16(icmp[2:], ^checksum.Sum(icmp))
	router, err := net.Dial("ip4:icmp", "10.66.0.2")
	if err != nil {
		t.Fatal(err)
	}
	defer router.Close()
	want := 1400 - (len(seen) - len(sent))
	for end := time.Now().Add(sinktest.Patience); mtu() != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("an MTU of %d, want %d", mtu(), want)
		}
		if _, err := router.Write(icmp); err != nil {
			t.Fatal(err)
		}
	}
	r.Wait(t, "restored quotes", func(p observetest.Exposition) bool {
		return p.Series[`intsink_icmp_quotes_total{link="edge",result="restored"}`] > 0
	})
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
