package udp

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"intsink/dpdk/ring"
	"intsink/internal/netns"
)

// apart starts a process with a network namespace of its own, and returns its number.
func apart(t *testing.T) int {
	t.Helper()
	p := exec.Command("sleep", "infinity")
	p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill(); p.Wait() })
	return p.Process.Pid
}

// listenIn opens a socket in the namespace of a process.
func listenIn(t *testing.T, pid int, address string) net.PacketConn {
	t.Helper()
	var c net.PacketConn
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends in the other namespace
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil {
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			f.Close()
		}
		if err == nil {
			c, err = net.ListenPacket("udp", address)
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestPathWithASmallerMTU: behind a router is a link of 1300 bytes, and no answer of the router reaches the
// sink. Report packets of max_bytes arrive over IPv4 all the same, each whole; over IPv6 those that are as
// long as conf makes them.
func TestPathWithASmallerMTU(t *testing.T) {
	if !netns.In(t) {
		return
	}
	runtime.LockOSThread() // Pdeathsig follows the thread that starts a process
	defer runtime.UnlockOSThread()
	router, collector := apart(t), apart(t)
	netns.Sh(t, fmt.Sprintf(`
ip link add near type veth peer name in netns %[1]d
ip link add k-out mtu 1300 type veth peer name far mtu 1300 netns %[2]d
ip link set k-out netns %[1]d
r="nsenter -t %[1]d -n" c="nsenter -t %[2]d -n"
for n in "" "$r" "$c"; do $n sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0; $n ip link set lo up; done
ip link set near up; $r ip link set in up; $r ip link set k-out up; $c ip link set far up
$r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
ip addr add 10.50.0.1/24 dev near; ip addr add fd50::1/64 dev near nodad
$r ip addr add 10.50.0.254/24 dev in; $r ip addr add fd50::fe/64 dev in nodad
$r ip addr add 10.51.0.254/24 dev k-out; $r ip addr add fd51::fe/64 dev k-out nodad
$c ip addr add 10.51.0.2/24 dev far; $c ip addr add fd51::2/64 dev far nodad
ip route add default via 10.50.0.254; ip -6 route add default via fd50::fe
$c ip route add default via 10.51.0.254; $c ip -6 route add default via fd51::fe
ping -qc1 -W60 10.51.0.2; ping -6 -qc1 -W60 fd51::2`, router, collector))
	const n = 50
	for _, c := range []struct {
		name, address string
		mode          PortMode
		port          uint16
		size          int
	}{
		{"IPv4", "10.51.0.2:8555", PortAny, 0, 1400 - 42},
		{"IPv4, a port of the flow", "10.51.0.2:8556", PortHash, 0, 1400 - 42},
		{"IPv4, port 0", "10.51.0.2:8557", PortFixed, 0, 1400 - 42},
		{"IPv6", "[fd51::2]:8555", PortAny, 0, 1280 - 48},
		{"IPv6, a port of the flow", "[fd51::2]:8556", PortHash, 0, 1280 - 48},
	} {
		t.Run(c.name, func(t *testing.T) {
			there := listenIn(t, collector, c.address)
			a, r := setup(t)
			fill(t, a, r, n, c.size)
			e := New(Config{Collector: netip.MustParseAddrPort(c.address), PortMode: c.mode, SourcePort: c.port, Rings: []*ring.Ring{r}, Pool: a})
			drain(e)
			there.SetReadDeadline(time.Now().Add(time.Minute))
			buf := make([]byte, 2048)
			for i := range n {
				got, _, err := there.ReadFrom(buf)
				if err != nil || got != c.size {
					t.Fatalf("packet %d of %d: %d bytes, %v", i, n, got, err)
				}
			}
		})
	}
}
